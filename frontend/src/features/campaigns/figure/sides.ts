/** Merges rows of several campaigns for one figure. Names of the others include their cluster. */

import type { TitleOf } from "@/lib/options";
import { dimensionsOf, type FigureRow, nameRow, textOf } from "./rows";

export interface Side {
  /** Prefix of the side's target names; empty for the first side. */
  readonly name: string;
  readonly rows: readonly FigureRow[];
}

/**
 * Keep the dimensions of the first side. Dimensions that only another side has go into its target names. Values that
 * differ only between sides are left to the comparison of campaigns.
 */
export function mergeSides(sides: readonly Side[], titleOf: TitleOf): FigureRow[] {
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
