/** Rows of the table of variants on scratch disks. */

import type { Preview } from "@/api/types";
import { groupBy } from "@/lib/grouping";

type MadeStage = NonNullable<Preview["scratch"]>["stages"][number];

interface Variant extends Pick<MadeStage, "variant" | "unit_blocks" | "width_blocks"> {
  /** To make it in all rounds; null if unknown. */
  readonly seconds: number | null;
}

/** Return the variants in the order of the first round. */
export function variantsOf(stages: readonly MadeStage[]): Variant[] {
  return [...groupBy(stages, ({ variant }) => variant).values()].flatMap(([first, ...others]) =>
    first ? { ...first, seconds: [first, ...others].reduce(addSeconds, 0) } : [],
  );
}

function addSeconds(sum: number | null, { make_seconds_estimated: own }: MadeStage): number | null {
  return sum === null || own === null ? null : sum + own;
}
