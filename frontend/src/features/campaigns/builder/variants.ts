/** Rows of the table of variants on scratch disks. */

import type { Preview } from "@/api/types";
import { groupBy } from "@/lib/grouping";

type MadeStage = NonNullable<Preview["scratch"]>["stages"][number];

interface Variant
  extends Pick<MadeStage, "variant" | "unit_blocks" | "width_blocks" | "size_bytes" | "is_measured"> {
  /** To make it in all rounds; null if unknown. */
  readonly seconds: number | null;
  /** Bytes that fills write in all rounds; null if unknown. */
  readonly filled: number | null;
}

/** Return the variants in the order of the first round. */
export function variantsOf(stages: readonly MadeStage[]): Variant[] {
  return [...groupBy(stages, ({ variant }) => variant).values()].flatMap(([first, ...others]) =>
    first
      ? {
          ...first,
          seconds: sumOf([first, ...others].map((stage) => stage.make_seconds_estimated)),
          filled: sumOf([first, ...others].map((stage) => stage.bytes_filled)),
        }
      : [],
  );
}

function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}
