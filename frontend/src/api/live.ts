/** Turns the server's news into refetches: a change of (kind, id) makes the queries keyed by them stale. */

import type { QueryClient } from "@tanstack/react-query";
import { type News, openStream } from "./stream";
import type { Word } from "./stream-worker";

const EVENTS_URL = "/api/v1/events?topics=campaign,run,node,target,cluster";
const GATHER_MILLISECONDS = 400;
/** What else a changed row makes stale: a run moves its series, a node announces workloads and mounts. */
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = {
  run: ["series"],
  campaign: ["series"],
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
 * Queries are keyed [kind, id, ...] for one row and [kind, "list", ...] for many.
 */
export function invalidateOnNews(client: QueryClient): (news: News) => void {
  const changed = new Map<string, Set<number>>();

  function flush(): void {
    for (const [kind, ids] of changed) {
      client.invalidateQueries({ queryKey: [kind, "list"] });
      for (const id of ids) client.invalidateQueries({ queryKey: [kind, id] });
      for (const follower of FOLLOWERS[kind] ?? []) client.invalidateQueries({ queryKey: [follower] });
    }
    changed.clear();
  }

  return (news) => {
    if (news.type === "reset") client.invalidateQueries();
    if (news.type !== "change") return;
    if (changed.size === 0) setTimeout(flush, GATHER_MILLISECONDS);
    changed.set(news.kind, (changed.get(news.kind) ?? new Set()).add(news.id));
  };
}
