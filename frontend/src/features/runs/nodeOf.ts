/** Whose order something of a run is, where it has several nodes. */

import type { RunDetail } from "@/api/types";

/** The node's name; null where the run has only one, which need not be said each time. */
export function nodeOf(run: RunDetail, orderId: number): string | null {
  const orders = run.attempts.flatMap(({ orders }) => orders);
  if (new Set(orders.map(({ node_id }) => node_id)).size < 2) return null;
  return orders.find(({ id }) => id === orderId)?.node_name ?? null;
}
