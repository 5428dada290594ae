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

it("invalidates only the changed row and the lists of its kind", async () => {
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

it("invalidates all of a kind when many have changed", async () => {
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

it("refetches the status board for changes of clusters and alerts, but not for new points", async () => {
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

it("collects a burst into one invalidation per key", async () => {
  const client = clientWith(["run", "list"]);
  const invalidate = vi.spyOn(client, "invalidateQueries");
  const receive = refetchOnUpdates(client);
  for (let id = 0; id < 50; id += 1) receive({ type: "change", kind: "node", id: 1 + (id % 2) });
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

it("refetches trends and results for new points, but not while a run continues", async () => {
  const client = clientWith(
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
    ["campaign", 3],
  );
  const receive = refetchOnUpdates(client);
  receive({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([]);
  receive({ type: "change", kind: "series", id: 5 });
  await vi.advanceTimersByTimeAsync(4000);
  expect(staleKeys(client)).toEqual([
    ["series", "list", 1],
    ["series", 5, "points"],
    ["cell", "list", 3],
  ]);
});

it("does not cancel a query that is slower than the updates", async () => {
  const client = clientWith();
  const load = vi.fn(
    ({ signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => setTimeout(() => resolve(signal.aborted ? "cancelled" : "new"), 2000)),
  );
  client.setQueryData(["run", "list"], "old");
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 60_000 });
  const leave = watched.subscribe(() => undefined);
  const receive = refetchOnUpdates(client);
  for (let heartbeat = 0; heartbeat < 6; heartbeat += 1) {
    receive({ type: "change", kind: "run", id: heartbeat });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(client.getQueryData(["run", "list"])).toBe("new");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(load).toHaveBeenCalledTimes(2);
  leave();
});

/** Requests of a list in one minute in which a run changes four times a second. */
async function askedInAMinute(answerMilliseconds: number): Promise<number> {
  const client = clientWith(["run", "list"]);
  const load = vi.fn(() => new Promise((resolve) => setTimeout(resolve, answerMilliseconds, "new")));
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 600_000 });
  const leave = watched.subscribe(() => undefined);
  const receive = refetchOnUpdates(client);
  for (let heartbeat = 0; heartbeat < 240; heartbeat += 1) {
    receive({ type: "change", kind: "run", id: 7 });
    await vi.advanceTimersByTimeAsync(250);
  }
  leave();
  return load.mock.calls.length;
}

it("refetches fast queries at most once a second, and slow ones rarely", async () => {
  const quickly = await askedInAMinute(10);
  expect(quickly).toBeGreaterThan(40);
  expect(quickly).toBeLessThan(65);
  expect(await askedInAMinute(500)).toBeLessThan(15);
  expect(await askedInAMinute(4000)).toBeLessThan(5);
});

it("refetches at once after a pause", async () => {
  const client = clientWith(["run", "list"]);
  const load = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 1000, "new")));
  const watched = new QueryObserver(client, { queryKey: ["run", "list"], queryFn: load, staleTime: 600_000 });
  const leave = watched.subscribe(() => undefined);
  const receive = refetchOnUpdates(client);
  receive({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(60_000);
  receive({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(500);
  expect(load).toHaveBeenCalledTimes(2);
  leave();
});

it("refetches a node when a run begins or ends, but not its announcements", async () => {
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

it("invalidates everything if updates were lost", () => {
  const client = clientWith(["run", 7], ["node", "list"]);
  refetchOnUpdates(client)({ type: "reset" });
  expect(staleKeys(client)).toHaveLength(2);
});
