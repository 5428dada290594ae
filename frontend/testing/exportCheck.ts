/** Finds text in an export that is a number as people read it: a program that reads the file could not compute with it. */

import type { ExportTable } from "@/lib/exported";

const NUMBER = "(about )?[~<≥≤≈+−-]?\\s?[\\d,]*\\.?\\d+";
const UNIT =
  "(%|([kMGTP]i?)?B|([kMGT]i?)?B/s|[kMGT]?bit/s|([kMG] )?op/s|us|ms|s|min|h|d|times|runs?|bytes|seconds)";
const DISPLAYED = [
  // A measured number, also with its count and its range behind it.
  new RegExp(`^${NUMBER} (([kMGT]i?)?B/s|[kMGT]?bit/s|([kMG] )?op/s)`),
  new RegExp(`^${NUMBER} ${UNIT}( \\d+ ${UNIT})?$`),
  /^\d{1,3}(,\d{3})+$/,
  // A probability; numbers with fewer digits may be versions of tools.
  /^(< )?[01]\.\d{3,}$/,
  /^ratio \d/,
];

/** One line for each such cell: `Rate: "1.62 GB/s"`. */
export function displayedNumbers({ columns, rows }: ExportTable): string[] {
  return rows.flatMap((row) =>
    row.flatMap((cell, place) =>
      typeof cell === "string" && DISPLAYED.some((shape) => shape.test(cell))
        ? [`${columns[place]}: "${cell}"`]
        : [],
    ),
  );
}
