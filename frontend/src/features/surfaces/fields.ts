/** What the charts of a surface are made of, from the server's answer. */

import { t } from "@lingui/core/macro";
import type { Surface, SurfaceSide } from "@/api/types";
import { exactBytes, type Scale, scaleFor } from "@/lib/units";
import type { SizeMap } from "@/plots/map";
import type { Fields, SliceLine } from "@/plots/surface";

export type Shown = "a" | "b" | "difference";

export function fieldsOf(surface: Surface, values: Fields["values"]): Fields {
  return { fileSizes: surface.file_sizes_bytes, recordSizes: surface.record_sizes_bytes, values };
}

export function medians(side: SurfaceSide): Fields["values"] {
  return side.cells.map((row) => row.map((cell) => cell?.median ?? null));
}

/** B − A; null where one has no number. */
export function differences(surface: Surface): Fields["values"] {
  return (surface.differences ?? []).map((row) => row.map((cell) => cell?.difference ?? null));
}

/** Of both sides together, so that equal colours and heights mean equal numbers. */
export function extent(surface: Surface): { scale: Scale; lowest: number; highest: number } {
  const sides = surface.b ? [surface.a, surface.b] : [surface.a];
  const values = sides.flatMap((side) => medians(side).flat()).filter((value) => value !== null);
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  const lowest = values.reduce((least, value) => Math.min(least, value), highest);
  return { scale: scaleFor(surface.unit, highest), lowest, highest };
}

export function sideMap(surface: Surface, side: SurfaceSide): SizeMap {
  return {
    ...named(surface),
    values: medians(side),
    runs: side.cells.map((row) => row.map((cell) => runsInWords(cell?.n ?? 0))),
  };
}

export function differenceMap(surface: Surface, by: "amount" | "percent"): SizeMap {
  const cells = surface.differences ?? [];
  return {
    ...named(surface),
    values:
      by === "amount"
        ? differences(surface)
        : cells.map((row) => row.map((cell) => cell?.ratio ?? cell?.median_ratio ?? null)),
    runs: cells.map((row) => row.map((cell) => cell?.words ?? "")),
  };
}

function named({ file_sizes_bytes, record_sizes_bytes }: Surface) {
  return { xNames: record_sizes_bytes.map(exactBytes), yNames: file_sizes_bytes.map(exactBytes) };
}

export function runsInWords(count: number): string {
  return count === 1 ? t`1 run` : t`median of ${count} runs`;
}

/** The cut through every side at one file size, or at one record size. */
export function slices(surface: Surface, axis: "file" | "record", sizeBytes: number): SliceLine[] {
  const { file_sizes_bytes: files, record_sizes_bytes: records } = surface;
  const sides = surface.b ? [surface.a, surface.b] : [surface.a];
  return sides.map((side, index) => {
    const line =
      axis === "file"
        ? (side.cells[files.indexOf(sizeBytes)] ?? [])
        : side.cells.map((row) => row[records.indexOf(sizeBytes)] ?? null);
    return {
      name: index === 0 ? "A" : "B",
      at: axis === "file" ? records : files,
      median: line.map((cell) => cell?.median ?? null),
      low: line.map((cell) => cell?.low ?? null),
      high: line.map((cell) => cell?.high ?? null),
    };
  });
}
