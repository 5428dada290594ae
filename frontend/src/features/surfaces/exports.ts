import type { Surface, SurfaceSide } from "@/api/types";
import { verdictColumns } from "@/components/export/verdictColumns";
import { type ExportRecord, type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";

/** One row per measured cell of each side; B also has its ratio to A. */
export function surfaceTable(surface: Surface): ExportTable {
  const { a, b } = surface;
  return recordTable(
    surface.file_sizes_bytes.flatMap((file, row) =>
      surface.record_sizes_bytes.flatMap((record, column) => {
        const field = { file_size_bytes: file, record_size_bytes: record };
        const difference = surface.differences?.[row]?.[column] ?? null;
        return [
          ...fieldRows(surface, field, "A", a, [row, column]).map((one) => ({
            ...one,
            ...verdictColumns(null),
          })),
          ...(b ? fieldRows(surface, field, "B", b, [row, column]) : []).map((one) => ({
            ...one,
            ...verdictColumns(difference),
          })),
        ];
      }),
    ),
  );
}

/** Empty if the cell was not measured. */
function fieldRows(
  { metric, operation, unit }: Surface,
  field: ExportRecord,
  name: string,
  side: SurfaceSide,
  [row, column]: readonly [number, number],
): ExportRecord[] {
  const cell = side.cells[row]?.[column];
  if (!cell) return [];
  return [
    {
      ...field,
      side: name,
      campaign_id: side.campaign_id,
      nodes: plainCell(side.node_names),
      targets: plainCell(side.target_names),
      variant: side.variant || null,
      workload: side.workload,
      ...spread("option_", side.options),
      metric,
      operation,
      value: cell.median,
      low: cell.low,
      high: cell.high,
      n: cell.n,
      unit,
      flags: cell.flags.join(" "),
      run_ids: plainCell(cell.run_ids),
    },
  ];
}
