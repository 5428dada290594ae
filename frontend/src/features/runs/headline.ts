/** The value that represents a run in lists. */

import type { Sample } from "@/api/types";

/** Prefers metrics where higher is better, and totals over parts. Skips superseded values. */
export function headlineOf(samples: readonly Sample[]): Sample | undefined {
  const rank = ({ better, labels }: Sample) => (better === "higher" ? 0 : 2) + ("writer" in labels ? 1 : 0);
  const counted = samples.filter(({ superseded }) => superseded === null);
  return counted.toSorted((a, b) => rank(a) - rank(b))[0];
}
