import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { refetchOnUpdates } from "./changeFeed";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function clientWith(...keys: unknown[][]): QueryClient {
  const client = new QueryClient();
  for (const key of keys) client.setQueryData(key, "old");
  return client;
}

function staleKeys(client: QueryClient): unknown[] {
  return client
    .getQueryCache()
    .getAll()
    .filter((query) => query.state.isInvalidated)
    .map((query) => query.queryKey);
}

it("makes the changed row and the lists of its kind stale, and nothing else", async () => {
  const client = clientWith(
    ["run", 7],
    ["run", 7, "curves"],
    ["run", 8],
    ["run", "list", {}],
    ["node", "list"],
  );
  refetchOnUpdates(client)({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([
    ["run", 7],
    ["run", 7, "curves"],
    ["run", "list", {}],
  ]);
});

it("makes all of a kind stale when very many have changed", async () => {
  const client = clientWith(
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
    ["run", "list"],
  );
  refetchOnUpdates(client)({ type: "change", kind: "series", id: 0 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
  ]);
});

it("asks for the board when a cluster stands otherwise or an alert changed, and not for new points", async () => {
  const board = ["standing", "list", 90];
  for (const [kind, isStale] of [
    ["standing", true],
    ["alert", true],
    ["series", false],
  ] as const) {
    const client = clientWith(board);
    refetchOnUpdates(client)({ type: "change", kind, id: 1 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(staleKeys(client)).toEqual(isStale ? [board] : []);
  }
});

it("gathers a burst into one invalidation a key", async () => {
  const client = clientWith(["run", "list"]);
  const invalidate = vi.spyOn(client, "invalidateQueries");
  const hear = refetchOnUpdates(client);
  for (let id = 0; id < 50; id += 1) hear({ type: "change", kind: "node", id: 1 + (id % 2) });
  await vi.advanceTimersByTimeAsync(1000);
  expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([
    ["node", "list"],
    ["node", 1],
    ["node", 2],
    ["node", "announced"],
    ["workload"],
    ["target"],
  ]);
});

it("shows new points in trends and in results, and leaves both alone while a run merely goes on", async () => {
  const client = clientWith(
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
    ["campaign", 3],
  );
  const hear = refetchOnUpdates(client);
  hear({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([]);
  hear({ type: "change", kind: "series", id: 5 });
  await vi.advanceTimersByTimeAsync(4000);
  expect(staleKeys(client)).toEqual([
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
  ]);
});

it("lets a query that is slower than the news come to its end", async () => {
  const client = clientWith();
  const load = vi.fn(
    ({ signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => setTimeout(() => resolve(signal.aborted ? "cancelled" : "new"), 2000)),
  );
  client.setQueryData(["run", "list"], "old");
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 60_000 });
  const leave = watched.subscribe(() => undefined);
  const hear = refetchOnUpdates(client);
  for (let beat = 0; beat < 6; beat += 1) {
    hear({ type: "change", kind: "run", id: beat });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(client.getQueryData(["run", "list"])).toBe("new");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(load).toHaveBeenCalledTimes(2);
  leave();
});

/** How often a list is asked for in a minute in which a run changes four times a second. */
async function askedInAMinute(answerMilliseconds: number): Promise<number> {
  const client = clientWith(["run", "list"]);
  const load = vi.fn(() => new Promise((resolve) => setTimeout(resolve, answerMilliseconds, "new")));
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 600_000 });
  const leave = watched.subscribe(() => undefined);
  const hear = refetchOnUpdates(client);
  for (let beat = 0; beat < 240; beat += 1) {
    hear({ type: "change", kind: "run", id: 7 });
    await vi.advanceTimersByTimeAsync(250);
  }
  leave();
  return load.mock.calls.length;
}

it("asks once a second at most for what is quickly answered, and seldom for what takes the server long", async () => {
  const quickly = await askedInAMinute(10);
  expect(quickly).toBeGreaterThan(40);
  expect(quickly).toBeLessThan(65);
  expect(await askedInAMinute(500)).toBeLessThan(15);
  expect(await askedInAMinute(4000)).toBeLessThan(5);
});

it("shows a change at once that comes after a rest, however long the last answer took", async () => {
  const client = clientWith(["run", "list"]);
  const load = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 1000, "new")));
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 600_000 });
  const leave = watched.subscribe(() => undefined);
  const hear = refetchOnUpdates(client);
  hear({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(60_000);
  hear({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(500);
  expect(load).toHaveBeenCalledTimes(2);
  leave();
});

it("asks for a node that a run began on or left, and not for what nodes announce", async () => {
  const client = clientWith(
    ["node", "list"],
    ["node", 7],
    ["node", 8],
    ["workload", "list"],
    ["target", "list"],
  );
  refetchOnUpdates(client)({ type: "change", kind: "activity", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([
    ["node", "list"],
    ["node", 7],
  ]);
});

it("makes everything stale when the server no longer knows what was missed", () => {
  const client = clientWith(["run", 7], ["node", "list"]);
  refetchOnUpdates(client)({ type: "reset" });
  expect(staleKeys(client)).toHaveLength(2);
});
