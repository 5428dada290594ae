/** Which flags stand next to a number of a run; pure. */

import type { Flag, Run, Sample } from "@/api/types";
import { flagsConcerning } from "@/components/flagWords";

const CUT: Flag["code"] = "CUT";

/** The run ended without doing all of its work: its numbers are of a part. */
export function isPartial({ state }: Pick<Run, "state">): boolean {
  return state === "failed" || state === "cancelled";
}

/** Codes of the flags that concern the number; one of a part is marked as that, also where its node did not say so. */
export function flagsOfNumber(
  run: Pick<Run, "state" | "flags">,
  sample: Pick<Sample, "labels" | "target_id">,
): string[] {
  const codes = flagsConcerning(run.flags, sample);
  return isPartial(run) && !codes.includes(CUT) ? [...codes, CUT] : codes;
}
