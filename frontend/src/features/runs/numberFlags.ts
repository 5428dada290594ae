/** Flags that apply to a value of a run. */

import type { Flag, Run, Sample } from "@/api/types";
import { codesOf, flagsConcerning } from "@/components/flagWords";

const CUT: Flag["code"] = "CUT";

/** The run ended early, so its values cover part of the work. */
export function isPartial({ state }: Pick<Run, "state">): boolean {
  return state === "failed" || state === "cancelled";
}

export interface NumberFlags {
  readonly flags: readonly string[];
  /** Codes of the flags that exclude the value from all results. */
  readonly rejecting: readonly string[];
}

/** Codes of the flags that concern the value. Partial results are marked even if the node did not report it. */
export function flagsOfNumber(
  run: Pick<Run, "state" | "flags">,
  sample: Pick<Sample, "labels" | "target_id">,
): NumberFlags {
  const concerning = flagsConcerning(run.flags, sample);
  const [codes, rejecting] = [
    codesOf(concerning),
    codesOf(concerning.filter(({ effect }) => effect === "rejected")),
  ];
  return { flags: isPartial(run) && !codes.includes(CUT) ? [...codes, CUT] : codes, rejecting };
}
