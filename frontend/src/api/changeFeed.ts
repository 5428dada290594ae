/** Turns updates of the change feed into refetches: a change of (kind, id) invalidates the queries keyed by it. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { openStream, type Update } from "./stream";
import type { Word } from "./stream-worker";

const EVENTS_URL = "/api/v1/events";
const GATHER_MILLISECONDS = 400;
/** A request without a response blocks the others for at most this time. */
const LONGEST_REFETCH_MILLISECONDS = 30_000;
/**
 * While updates continue, a page waits this multiple of its last refetch time, so that expensive queries run rarely.
 */
const RESTS = 9;
/** Minimum wait, even if responses are fast. */
const LEAST_REST_MILLISECONDS = 1000;
const LONGEST_REST_MILLISECONDS = 15_000;
/** Sent instead of a row id when many rows of the kind have changed. */
const ANY = 0;
/**
 * Other kinds invalidated by a change. New points are results of cells, a node announces workloads and mounts, and
 * the status board counts alerts and clusters.
 */
const FOLLOWERS: Readonly<Record<string, readonly QueryKey[]>> = {
  series: [["cell"]],
  alert: [["standing"]],
  cluster: [["standing"]],
  node: [["node", "announced"], ["workload"], ["target"]],
};
/** Kinds that only report that a run began or ended on another kind of row. */
const SUBJECTS: Readonly<Record<string, string>> = { activity: "node" };

/** Follows the change feed until the returned function is called. */
export function followUpdates(report: (update: Update) => void): () => void {
  if (typeof SharedWorker === "undefined") return openStream(EVENTS_URL, report);
  const worker = new SharedWorker(new URL("./stream-worker.ts", import.meta.url), {
    type: "module",
    name: "iotide",
  });
  const send = (word: Word) => worker.port.postMessage(word);
  const open = () => send({ type: "open", url: EVENTS_URL });
  const bye = () => send({ type: "bye" });
  worker.port.onmessage = ({ data }: MessageEvent<Update>) => report(data);
  open();
  // A page in the back/forward cache receives no updates; it refetches when shown.
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
 * Collects changes briefly, so that a burst of a hundred rows costs one refetch per query.
 *
 * The next refetch waits for the previous one. Otherwise each would cancel the one before, and a query slower than
 * the updates would never finish. Pauses in between limit the load of pages that change all the time and of a slow
 * server. A change after a pause is shown at once.
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
