/** The numbers of a figure as a table, for charts whose page has none of its own: a line a mark, in the units of the axes. */

import type { Layout } from "plotly.js";
import type { ExportCell, ExportTable } from "@/lib/exported";
import type { Figure } from "./figure";

type Row = readonly ExportCell[];

/** What traces of every type have in common. */
interface Trace {
  readonly name?: string;
  readonly x?: unknown;
  readonly y?: unknown;
  readonly z?: unknown;
  readonly yaxis?: string;
}

/** Columns are the trace, then what stands at the axes; with several vertical axes a value names its own. */
export function figureTable({ data, layout }: Figure): ExportTable {
  const traces = data.map((trace) => trace as Trace);
  if (traces.some(({ z }) => z)) return mapTable(traces, layout);
  const axes = new Set(traces.map(({ yaxis }) => titleOf(layout, yaxis ?? "y", "y")));
  const [only] = axes;
  const rows = traces.flatMap((trace) =>
    markRows(trace, titleOf(layout, trace.yaxis ?? "y", "y"), axes.size > 1),
  );
  const x = titleOf(layout, "x", "x");
  return axes.size > 1
    ? { columns: ["Trace", "Quantity", x, "Value"], rows }
    : { columns: ["Trace", x, only ?? "y"], rows };
}

function markRows(trace: Trace, quantity: string, isNamed: boolean): Row[] {
  const x = cellsOf(trace.x);
  const y = cellsOf(trace.y);
  const name = trace.name ?? "";
  return y.map((value, place) => [name, ...(isNamed ? [quantity] : []), x[place] ?? place, value]);
}

function mapTable(traces: readonly Trace[], layout: Partial<Layout>): ExportTable {
  const rows = traces.flatMap(({ name = "", x, y, z }) => {
    const across = cellsOf(x);
    return cellsOf(y).flatMap((up, row) =>
      cellsOf(rowsOf(z)[row]).map((value, column): Row => [name, across[column] ?? column, up, value]),
    );
  });
  return { columns: ["Trace", titleOf(layout, "x", "x"), titleOf(layout, "y", "y"), "Value"], rows };
}

function rowsOf(z: unknown): readonly unknown[] {
  return Array.isArray(z) ? z : [];
}

/** The title of an axis called `y2` stands in the layout as `yaxis2`. */
function titleOf(layout: Partial<Layout>, axis: string, otherwise: string): string {
  const key = `${axis[0]}axis${axis.slice(1)}` as "xaxis" | "yaxis";
  return layout[key]?.title?.text?.replace(/<[^>]+>/g, " ") || otherwise;
}

/** A column of plotly's, which may be nested for groups or typed. */
function cellsOf(column: unknown): ExportCell[] {
  if (!Array.isArray(column) && !ArrayBuffer.isView(column)) return [];
  return Array.from(column as ArrayLike<unknown>, cellOf);
}

function cellOf(value: unknown): ExportCell {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.join(" ") : String(value);
}
