/** Rows of several campaigns as those of one figure: the first as it is, the others by names that say whose they are. */

import type { TitleOf } from "@/lib/options";
import { dimensionsOf, type FigureRow, nameRow, textOf } from "./rows";

export interface Side {
  /** Stands before the names of its targets; nothing before those of the first. */
  readonly name: string;
  readonly rows: readonly FigureRow[];
}

/**
 * What tells apart the rows of the first side stays a dimension. What tells apart those of another side alone stands in
 * the names of its targets, and what merely differs between the sides is left to the comparison of campaigns.
 */
export function layBeside(sides: readonly Side[], titleOf: TitleOf): FigureRow[] {
  const [first, ...others] = sides.filter(({ rows }) => rows.length > 0);
  if (!first || others.length === 0) return [...(first?.rows ?? [])];
  const kept = dimensionsOf(first.rows);
  return [
    ...first.rows.map((row) => reduced(row, kept, textOf(row, "target"))),
    ...others.flatMap(({ name, rows }) => {
      const own = dimensionsOf(rows).filter((one) => one !== "target" && !kept.includes(one));
      return rows.map((row) =>
        reduced(row, kept, `${name} ${[textOf(row, "target"), ...namesOf(row, own, titleOf)].join(" · ")}`),
      );
    }),
  ];
}

function namesOf(row: FigureRow, own: readonly string[], titleOf: TitleOf): string[] {
  return own.length > 0 ? [nameRow(row, own, titleOf)] : [];
}

function reduced({ parts, measured }: FigureRow, kept: readonly string[], target: string): FigureRow {
  return { parts: { ...Object.fromEntries(kept.map((name) => [name, parts[name]])), target }, measured };
}
