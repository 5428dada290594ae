/** Chart data of a surface. */

import { t } from "@lingui/core/macro";
import type { Surface, SurfaceSide } from "@/api/types";
import { conditionsOf } from "@/components/conditionsOf";
import { flagTitle } from "@/components/flagWords";
import { exactBytes, type Scale, scaleFor } from "@/lib/units";
import { runsInWords } from "@/plots/figure";
import type { SizeMap } from "@/plots/map";
import type { Fields, SliceLine } from "@/plots/surface";

export type Shown = "a" | "b" | "difference";

export function fieldsOf(surface: Surface, values: Fields["values"]): Fields {
  return { fileSizes: surface.file_sizes_bytes, recordSizes: surface.record_sizes_bytes, values };
}

export function medians(side: SurfaceSide): Fields["values"] {
  return side.cells.map((row) => row.map((cell) => cell?.median ?? null));
}

/** B − A; null if either value is missing. */
export function differences(surface: Surface): Fields["values"] {
  return (surface.differences ?? []).map((row) => row.map((cell) => cell?.difference ?? null));
}

/** Common range of both sides, so that equal colours and heights mean equal values. */
export function extent(surface: Surface): { scale: Scale; lowest: number; highest: number } {
  const sides = sidesOf(surface);
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
    gaps: side.cells.map((row, file) =>
      row.map((cell, record) => (cell ? "" : gapInWords(surface, side, file, record))),
    ),
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
    runs: cells.map((row) => row.map((cell) => (cell ? [cell.words, ...conditionsOf(cell)].join("; ") : ""))),
    gaps: cells.map((row, file) =>
      row.map((cell, record) => (cell ? "" : differenceGap(surface, file, record))),
    ),
  };
}

function named({ file_sizes_bytes, record_sizes_bytes }: Surface) {
  return { xNames: record_sizes_bytes.map(exactBytes), yNames: file_sizes_bytes.map(exactBytes) };
}

/** Reason for a missing value; empty for impossible sizes, since no record is larger than its file. */
export function gapInWords(surface: Surface, side: SurfaceSide, file: number, record: number): string {
  const fileSize = surface.file_sizes_bytes[file] ?? 0;
  const recordSize = surface.record_sizes_bytes[record] ?? 0;
  if (recordSize > fileSize) return "";
  const reason = side.unmeasured.find(
    (one) => one.file_size_bytes === fileSize && one.record_size_bytes === recordSize,
  );
  if (!reason) return t`not measured`;
  return t`not measured: ${flagTitle(reason.flag).toLowerCase()}`;
}

function differenceGap(surface: Surface, file: number, record: number): string {
  const sides = [["A", surface.a] as const, ["B", surface.b] as const];
  return sides
    .flatMap(([name, side]) => {
      if (!side || side.cells[file]?.[record]) return [];
      const why = gapInWords(surface, side, file, record);
      return why ? [`${name} ${why}`] : [];
    })
    .join("; ");
}

export function allGaps(surface: Surface): string[] {
  return gapsAt(surface, () => true);
}

export function sliceGaps(surface: Surface, axis: "file" | "record", sizeBytes: number): string[] {
  const { file_sizes_bytes: files, record_sizes_bytes: records } = surface;
  return gapsAt(surface, (file, record) => (axis === "file" ? files[file] : records[record]) === sizeBytes);
}

function gapsAt(surface: Surface, isMeant: (file: number, record: number) => boolean): string[] {
  return sidesOf(surface).flatMap((side) =>
    side.cells.flatMap((row, file) =>
      row.flatMap((cell, record) =>
        cell || !isMeant(file, record) ? [] : gapInWords(surface, side, file, record),
      ),
    ),
  );
}

/** For example `3 cells not measured: too short, 1 cell not measured`. */
export function gapsInWords(gaps: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const gap of gaps.filter(Boolean)) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  return [...counts]
    .map(([gap, count]) => (count === 1 ? t`1 cell ${gap}` : t`${count} cells ${gap}`))
    .join(", ");
}

function sidesOf({ a, b }: Surface): SurfaceSide[] {
  return b ? [a, b] : [a];
}

export function slices(surface: Surface, axis: "file" | "record", sizeBytes: number): SliceLine[] {
  const { file_sizes_bytes: files, record_sizes_bytes: records } = surface;
  const sides = sidesOf(surface);
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
