/** A table as a Parquet file with typed columns; loaded on demand. */

import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import type { ExportCell, ExportTable } from "./exported";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Numbers, booleans and times keep their type if the whole column has it; everything else is text. */
export function toParquet({ columns, rows }: ExportTable): ArrayBuffer {
  const names = distinct(columns);
  return parquetWriteBuffer({
    columnData: names.map((name, place) => typed(name, columnAt(rows, place))),
    createdBy: "iotide",
  });
}

/** Parquet needs unique column names; tables may repeat a title. */
function distinct(names: readonly string[]): string[] {
  return names.map((name, place) => {
    const before = names.slice(0, place).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
}

function columnAt(rows: ExportTable["rows"], place: number): ExportCell[] {
  return rows.map((row) => row[place] ?? null);
}

function typed(name: string, cells: readonly ExportCell[]): ColumnSource {
  const known = cells.filter((cell) => cell !== null);
  const column = { name, nullable: true };
  if (known.length > 0 && known.every((cell) => typeof cell === "number"))
    return { ...column, type: "DOUBLE", data: [...cells] };
  if (known.length > 0 && known.every((cell) => typeof cell === "boolean"))
    return { ...column, type: "BOOLEAN", data: [...cells] };
  if (known.length > 0 && known.every((cell) => typeof cell === "string" && TIME.test(cell)))
    return {
      ...column,
      type: "TIMESTAMP",
      data: cells.map((cell) => (typeof cell === "string" ? new Date(cell) : null)),
    };
  return { ...column, type: "STRING", data: cells.map((cell) => (cell === null ? null : String(cell))) };
}
