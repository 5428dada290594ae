/** Nodes of orders. */

import type { RunDetail } from "@/api/types";

/** Part of the node that starts one program over all nodes. */
export const HEAD = "head";

/** Null if the run has a single node. */
export function nodeOf(run: RunDetail, orderId: number): string | null {
  const orders = run.attempts.flatMap(({ orders }) => orders);
  if (new Set(orders.map(({ node_id }) => node_id)).size < 2) return null;
  return orders.find(({ id }) => id === orderId)?.node_name ?? null;
}

/** Null also for the head of one program: its values are of all nodes. */
export function measuredNodeOf(run: RunDetail, orderId: number): string | null {
  const orders = run.attempts.flatMap((attempt) => attempt.orders);
  const role: string | null = orders.find(({ id }) => id === orderId)?.step_role ?? null;
  return role === HEAD ? null : nodeOf(run, orderId);
}
