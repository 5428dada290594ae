/** The one number of a run that stands for it; pure. */

import type { Sample } from "@/api/types";

/** What more is better of comes first, and the whole before its parts; nothing that counts no more. */
export function headlineOf(samples: readonly Sample[]): Sample | undefined {
  const rank = ({ better, labels }: Sample) => (better === "higher" ? 0 : 2) + ("writer" in labels ? 1 : 0);
  const counted = samples.filter(({ superseded }) => superseded === null);
  return counted.toSorted((a, b) => rank(a) - rank(b))[0];
}
