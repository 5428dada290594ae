import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { invalidateOnNews } from "./live";

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
  invalidateOnNews(client)({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([
    ["run", 7],
    ["run", 7, "curves"],
    ["run", "list", {}],
  ]);
});

it("gathers a burst into one invalidation a key", async () => {
  const client = clientWith(["run", "list"]);
  const invalidate = vi.spyOn(client, "invalidateQueries");
  const hear = invalidateOnNews(client);
  for (let id = 0; id < 50; id += 1) hear({ type: "change", kind: "node", id: id % 2 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([
    ["node", "list"],
    ["node", 0],
    ["node", 1],
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
  const hear = invalidateOnNews(client);
  hear({ type: "change", kind: "run", id: 7 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(staleKeys(client)).toEqual([]);
  hear({ type: "change", kind: "series", id: 5 });
  await vi.advanceTimersByTimeAsync(1000);
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
  const hear = invalidateOnNews(client);
  for (let beat = 0; beat < 6; beat += 1) {
    hear({ type: "change", kind: "run", id: beat });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(client.getQueryData(["run", "list"])).toBe("new");
  await vi.advanceTimersByTimeAsync(5000);
  expect(load).toHaveBeenCalledTimes(2);
  leave();
});

it("makes everything stale when the server no longer knows what was missed", () => {
  const client = clientWith(["run", 7], ["node", "list"]);
  invalidateOnNews(client)({ type: "reset" });
  expect(staleKeys(client)).toHaveLength(2);
});
