/** Places that are alike stand together: of a hundred nodes with the same disks one drawing is enough; pure. */

import { t } from "@lingui/core/macro";
import type { TargetPlace } from "@/api/types";

const MOST_NAMED = 4;

/** Places with the same key together, in the order in which the first of each stands. */
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

/** `node-1, node-2`, or the first few of them and how many more there are. */
export function nodesOf(places: readonly TargetPlace[]): string {
  const names = places.map(({ node_name }) => node_name);
  const more = names.length - MOST_NAMED;
  return more > 0 ? t`${names.slice(0, MOST_NAMED).join(", ")} and ${more} more` : names.join(", ");
}
