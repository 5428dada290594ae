/** Names of what an advice is about. */

import { t } from "@lingui/core/macro";

const MOST_NAMED = 4;

/** The first of many nodes or targets, and how many more there are. */
export function nameSome(subjects: readonly string[]): string {
  const more = subjects.length - MOST_NAMED;
  return subjects.slice(0, MOST_NAMED).join(", ") + (more > 0 ? t` and ${more} more` : "");
}
