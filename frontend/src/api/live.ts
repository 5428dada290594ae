/** Turns the server's news into refetches: a change of (kind, id) makes the queries keyed by them stale. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { type News, openStream } from "./stream";
import type { Word } from "./stream-worker";

const EVENTS_URL = "/api/v1/events";
const GATHER_MILLISECONDS = 400;
/** A request without an answer holds up the rest no longer than this. */
const LONGEST_REFETCH_MILLISECONDS = 30_000;
/** What else a changed row makes stale: new points are results of cells, a node announces workloads and mounts. */
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = {
  series: ["cell"],
  node: ["workload", "target"],
};

/** Hears the news until the returned function is called. */
export function hearNews(tell: (news: News) => void): () => void {
  if (typeof SharedWorker === "undefined") return openStream(EVENTS_URL, tell);
  const worker = new SharedWorker(new URL("./stream-worker.ts", import.meta.url), {
    type: "module",
    name: "iotide",
  });
  const send = (word: Word) => worker.port.postMessage(word);
  const open = () => send({ type: "open", url: EVENTS_URL });
  const bye = () => send({ type: "bye" });
  worker.port.onmessage = ({ data }: MessageEvent<News>) => tell(data);
  open();
  // A page kept for the back button hears nothing; it asks again when it is shown.
  addEventListener("pagehide", bye);
  addEventListener("pageshow", open);
  return () => {
    removeEventListener("pagehide", bye);
    removeEventListener("pageshow", open);
    bye();
    worker.port.close();
  };
}

/**
 * Gathers changes for a moment, so that a burst of a hundred rows costs one refetch a query.
 *
 * The next refetch waits for the last one: each would cancel its forerunner, and a query slower than the news would
 * never be answered.
 *
 * Queries are keyed [kind, id, ...] for one row and [kind, "list", ...] for many.
 */
export function invalidateOnNews(client: QueryClient): (news: News) => void {
  const changed = new Map<string, Set<number>>();

  let isFlushing = false;

  async function flush(): Promise<void> {
    isFlushing = true;
    while (changed.size > 0) {
      await pause(GATHER_MILLISECONDS);
      const keys = [...changed].flatMap(([kind, ids]) => staleKeys(kind, ids));
      changed.clear();
      const refetched = Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
      await Promise.race([refetched, pause(LONGEST_REFETCH_MILLISECONDS)]);
    }
    isFlushing = false;
  }

  return (news) => {
    if (news.type === "reset") client.invalidateQueries();
    if (news.type !== "change") return;
    changed.set(news.kind, (changed.get(news.kind) ?? new Set()).add(news.id));
    if (!isFlushing) void flush();
  };
}

function staleKeys(kind: string, ids: ReadonlySet<number>): QueryKey[] {
  const followers = (FOLLOWERS[kind] ?? []).map((follower) => [follower]);
  return [[kind, "list"], ...[...ids].map((id) => [kind, id]), ...followers];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
