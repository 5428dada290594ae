/** The one number of a run that stands for it; pure. */

import type { Sample } from "@/api/types";

/** What more is better of comes first, and the whole before its parts. */
export function headlineOf(samples: readonly Sample[]): Sample | undefined {
  const rank = ({ better, labels }: Sample) => (better === "higher" ? 0 : 2) + ("writer" in labels ? 1 : 0);
  return samples.toSorted((a, b) => rank(a) - rank(b))[0];
}
