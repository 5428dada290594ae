/** Ratios of a table's rows to the same row of a baseline place. */

import { areComparable } from "@/components/flagWords";
import type { Base } from "./choice";
import { type FigureRow, textOf } from "./rows";

const PUBLISHED = "PUBLISHED";

/** Published values stand for an unknown number of repeats. */
export function isPublished({ measured }: FigureRow): boolean {
  return measured.flags.includes(PUBLISHED);
}

/** Return the ratio of each row. Own single runs, the baseline itself and rows that measure something else have none. */
export function ratiosTo(
  base: Base,
  rows: readonly FigureRow[],
  dimensions: readonly string[],
): ReadonlyMap<FigureRow, number> {
  const others = dimensions.filter((name) => name !== base.name);
  const keyOf = (row: FigureRow) => others.map((name) => textOf(row, name)).join("\n");
  const isBase = (row: FigureRow) => textOf(row, base.name) === base.text;
  const sound = rows.filter((row) => row.measured.n > 1 || isPublished(row));
  const bases = new Map(sound.filter(isBase).map((row) => [keyOf(row), row.measured]));
  return new Map(
    sound.flatMap((row) => {
      const below = bases.get(keyOf(row));
      if (isBase(row) || !below?.median || !areComparable(row.measured.flags, below.flags)) return [];
      return [[row, row.measured.median / below.median] as const];
    }),
  );
}
