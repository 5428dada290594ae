import { QueryClient } from "@tanstack/react-query";
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

it("makes the changed row and the lists of its kind stale, and nothing else", () => {
  const client = clientWith(
    ["run", 7],
    ["run", 7, "curves"],
    ["run", 8],
    ["run", "list", {}],
    ["node", "list"],
  );
  invalidateOnNews(client)({ type: "change", kind: "run", id: 7 });
  vi.advanceTimersByTime(1000);
  expect(staleKeys(client)).toEqual([
    ["run", 7],
    ["run", 7, "curves"],
    ["run", "list", {}],
  ]);
});

it("gathers a burst into one invalidation a key", () => {
  const client = clientWith(["run", "list"]);
  const invalidate = vi.spyOn(client, "invalidateQueries");
  const hear = invalidateOnNews(client);
  for (let id = 0; id < 50; id += 1) hear({ type: "change", kind: "node", id: id % 2 });
  vi.advanceTimersByTime(1000);
  expect(invalidate.mock.calls.map(([filters]) => filters?.queryKey)).toEqual([
    ["node", "list"],
    ["node", 0],
    ["node", 1],
    ["workload"],
    ["target"],
  ]);
});

it("makes everything stale when the server no longer knows what was missed", () => {
  const client = clientWith(["run", 7], ["node", "list"]);
  invalidateOnNews(client)({ type: "reset" });
  expect(staleKeys(client)).toHaveLength(2);
});
