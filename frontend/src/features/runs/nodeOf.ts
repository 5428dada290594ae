/** The node of an order. */

import type { RunDetail } from "@/api/types";

/** Null if the run has a single node. */
export function nodeOf(run: RunDetail, orderId: number): string | null {
  const orders = run.attempts.flatMap(({ orders }) => orders);
  if (new Set(orders.map(({ node_id }) => node_id)).size < 2) return null;
  return orders.find(({ id }) => id === orderId)?.node_name ?? null;
}
