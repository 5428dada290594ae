/** What a table says of each row in terms of the row of one place that is otherwise alike. */

import type { Base } from "./choice";
import { type FigureRow, textOf } from "./rows";

const PUBLISHED = "PUBLISHED";

/** Others measured it: one number stands for repeats of which the count is not told. */
export function isPublished({ measured }: FigureRow): boolean {
  return measured.flags.includes(PUBLISHED);
}

/** By row; one run of one's own is no ground for a ratio, and nothing is divided by itself. */
export function ratiosTo(
  base: Base,
  rows: readonly FigureRow[],
  dimensions: readonly string[],
): ReadonlyMap<FigureRow, number> {
  const others = dimensions.filter((name) => name !== base.name);
  const keyOf = (row: FigureRow) => others.map((name) => textOf(row, name)).join("\n");
  const isBase = (row: FigureRow) => textOf(row, base.name) === base.text;
  const sound = rows.filter((row) => row.measured.n > 1 || isPublished(row));
  const below = new Map(sound.filter(isBase).map((row) => [keyOf(row), row.measured.median]));
  return new Map(
    sound
      .filter((row) => !isBase(row) && below.get(keyOf(row)))
      .map((row) => [row, row.measured.median / (below.get(keyOf(row)) ?? 1)]),
  );
}
