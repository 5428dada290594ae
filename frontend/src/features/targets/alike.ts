/** Groups identical places, since one diagram is enough for a hundred equal nodes. */

import { t } from "@lingui/core/macro";
import type { TargetPlace } from "@/api/types";

const MOST_NAMED = 4;

/** Groups by key, in order of first appearance. */
export function together(
  places: readonly TargetPlace[],
  keyOf: (place: TargetPlace) => unknown,
): TargetPlace[][] {
  const groups = new Map<string, TargetPlace[]>();
  for (const place of places) {
    const key = JSON.stringify(keyOf(place));
    groups.set(key, [...(groups.get(key) ?? []), place]);
  }
  return [...groups.values()];
}

/** For example `node-1, node-2`, or the first few and a count. */
export function nodesOf(places: readonly TargetPlace[]): string {
  const names = places.map(({ node_name }) => node_name);
  const more = names.length - MOST_NAMED;
  return more > 0 ? t`${names.slice(0, MOST_NAMED).join(", ")} and ${more} more` : names.join(", ");
}
