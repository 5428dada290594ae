import { t } from "@lingui/core/macro";

/** Say where a run is: `node07 on scratch`. Runs that make file systems have no target. */
export function placeWords(nodes: readonly string[], targets: readonly string[]): string {
  return targets.length === 0 ? nodes.join(", ") : t`${nodes.join(", ")} on ${targets.join(", ")}`;
}
