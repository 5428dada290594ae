/** Turns the updates of the server's change feed into refetches: a change of (kind, id) makes the queries keyed by them stale. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { openStream, type Update } from "./stream";
import type { Word } from "./stream-worker";

const EVENTS_URL = "/api/v1/events";
const GATHER_MILLISECONDS = 400;
/** A request without an answer holds up the rest no longer than this. */
const LONGEST_REFETCH_MILLISECONDS = 30_000;
/** While updates go on coming, a page rests so many times as long as its last refetch took: what costs is asked seldom. */
const RESTS = 9;
/** As often as a run that begins is heard of: a quick answer is no reason to ask more often. */
const LEAST_REST_MILLISECONDS = 1000;
const LONGEST_REST_MILLISECONDS = 15_000;
/** In place of a row's id: very many of the kind have changed. */
const ANY = 0;
/**
 * What else a changed row makes stale: new points are results of cells, a node announces workloads and mounts, and the
 * board counts alerts and clusters.
 */
const FOLLOWERS: Readonly<Record<string, readonly QueryKey[]>> = {
  series: [["cell"]],
  alert: [["standing"]],
  cluster: [["standing"]],
  node: [["node", "announced"], ["workload"], ["target"]],
};
/** Kinds of updates that tell of another kind of row: a run began or ended on a node, which announces nothing by that. */
const SUBJECTS: Readonly<Record<string, string>> = { activity: "node" };

/** Follow the change feed until the returned function is called. */
export function followUpdates(tell: (update: Update) => void): () => void {
  if (typeof SharedWorker === "undefined") return openStream(EVENTS_URL, tell);
  const worker = new SharedWorker(new URL("./stream-worker.ts", import.meta.url), {
    type: "module",
    name: "iotide",
  });
  const send = (word: Word) => worker.port.postMessage(word);
  const open = () => send({ type: "open", url: EVENTS_URL });
  const bye = () => send({ type: "bye" });
  worker.port.onmessage = ({ data }: MessageEvent<Update>) => tell(data);
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
 * The next refetch waits for the last one: each would cancel its forerunner, and a query slower than the updates would
 * never be answered. It also rests in between, so that pages that a hundred runs keep changing, and a server that has
 * become slow, are asked less often; what changes after a rest is shown at once.
 *
 * Queries are keyed [kind, id, ...] for one row and [kind, "list", ...] for many.
 */
export function refetchOnUpdates(client: QueryClient): (update: Update) => void {
  const changed = new Map<string, Set<number>>();

  let isFlushing = false;
  let restedAt = 0;

  async function flush(): Promise<void> {
    isFlushing = true;
    while (changed.size > 0) {
      await pause(Math.max(GATHER_MILLISECONDS, restedAt - performance.now()));
      const keys = [...changed].flatMap(([kind, ids]) => staleKeys(kind, ids));
      changed.clear();
      const beganAt = performance.now();
      const refetched = Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
      await Promise.race([refetched, pause(LONGEST_REFETCH_MILLISECONDS)]);
      const now = performance.now();
      const rest = Math.max(RESTS * (now - beganAt), LEAST_REST_MILLISECONDS);
      restedAt = now + Math.min(rest, LONGEST_REST_MILLISECONDS);
    }
    isFlushing = false;
  }

  return (update) => {
    if (update.type === "reset") client.invalidateQueries();
    if (update.type !== "change") return;
    changed.set(update.kind, (changed.get(update.kind) ?? new Set()).add(update.id));
    if (!isFlushing) void flush();
  };
}

function staleKeys(kind: string, ids: ReadonlySet<number>): QueryKey[] {
  const subject = SUBJECTS[kind] ?? kind;
  const rows = ids.has(ANY) ? [[subject]] : [[subject, "list"], ...[...ids].map((id) => [subject, id])];
  return [...rows, ...(FOLLOWERS[kind] ?? [])];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
