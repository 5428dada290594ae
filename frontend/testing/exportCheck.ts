/** Finds formatted numbers in exports, which programs could not compute with. */

import type { ExportTable } from "@/lib/exported";

const NUMBER = "(about )?[~<≥≤≈+−-]?\\s?[\\d,]*\\.?\\d+";
const UNIT =
  "(%|([kMGTP]i?)?B|([kMGT]i?)?B/s|[kMGT]?bit/s|[kMG]?op/s|us|ms|s|min|h|d|times|runs?|bytes|seconds)";
const DISPLAYED = [
  // A value with unit, optionally with count and range.
  new RegExp(`^${NUMBER} (([kMGT]i?)?B/s|[kMGT]?bit/s|[kMG]?op/s)`),
  new RegExp(`^${NUMBER} ${UNIT}( \\d+ ${UNIT})?$`),
  /^\d{1,3}(,\d{3})+$/,
  // A p-value; numbers with fewer digits may be tool versions.
  /^(< )?[01]\.\d{3,}$/,
  /^ratio \d/,
];

/** One line per such cell: `Rate: "1.62 GB/s"`. */
export function displayedNumbers({ columns, rows }: ExportTable): string[] {
  return rows.flatMap((row) =>
    row.flatMap((cell, place) =>
      typeof cell === "string" && DISPLAYED.some((shape) => shape.test(cell))
        ? [`${columns[place]}: "${cell}"`]
        : [],
    ),
  );
}
