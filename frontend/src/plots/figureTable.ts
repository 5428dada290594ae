/** Exported table of a figure: one row per mark, in base units and UTC. */

import type { Layout } from "plotly.js";
import { baseUnitOf, inBaseUnit } from "@/lib/baseUnits";
import type { ExportCell, ExportTable } from "@/lib/exported";
import { fromLocalTime } from "@/lib/time";
import type { Figure } from "./figure";

type Row = readonly ExportCell[];

/** Common fields of all trace types. */
interface Trace {
  readonly name?: string;
  readonly x?: unknown;
  readonly y?: unknown;
  readonly z?: unknown;
  /** Start of the bars on a lane. */
  readonly base?: unknown;
  readonly yaxis?: string;
  /** Title of the values if their axis has none. */
  readonly meta?: unknown;
  readonly colorbar?: { readonly title?: { readonly text?: string } };
}

/** Column name with base unit, and conversion of values. */
interface Axis {
  readonly name: string;
  readonly read: (value: unknown) => ExportCell;
}

/** Columns: trace and axes. With several y axes, each value names its own. */
export function figureTable({ data, layout }: Figure): ExportTable {
  const traces = data.map((trace) => trace as Trace);
  if (traces.some(({ z }) => z)) return mapTable(traces, layout);
  if (traces.some(({ base }) => Array.isArray(base))) return laneTable(traces, layout);
  const x = axisOf(layout, "x");
  const axes = new Map(traces.map(({ yaxis = "y", meta }) => [yaxis, axisOf(layout, yaxis, meta)]));
  const isNamed = new Set([...axes.values()].map(({ name }) => name)).size > 1;
  const rows = traces.flatMap((trace) => {
    const y = axes.get(trace.yaxis ?? "y") ?? x;
    const across = cellsOf(trace.x);
    return cellsOf(trace.y).map((value, place): Row => {
      const at = x.read(across[place] ?? place);
      return [trace.name ?? "", ...(isNamed ? [y.name] : []), at, y.read(value)];
    });
  });
  const [only] = axes.values();
  return isNamed
    ? { columns: ["Trace", "Quantity", x.name, "Value"], rows }
    : { columns: ["Trace", x.name, only?.name ?? "y"], rows };
}

/** Bars on lanes start at their base. Their length is the value, in milliseconds on a time axis. */
function laneTable(traces: readonly Trace[], layout: Partial<Layout>): ExportTable {
  const [x, y] = [axisOf(layout, "x"), axisOf(layout, "y")];
  const rows = traces.flatMap(({ name = "", base, x: lengths, y: lanes }) => {
    const from = cellsOf(base).map(x.read);
    const lasted = cellsOf(lengths);
    return cellsOf(lanes).map((lane, place): Row => {
      const begin = from[place] ?? null;
      return [name, y.read(lane), begin, endOf(begin, Number(lasted[place] ?? 0))];
    });
  });
  return { columns: ["Trace", "Lane", `${x.name}, from`, `${x.name}, until`], rows };
}

function endOf(begin: ExportCell, length: number): ExportCell {
  return typeof begin === "string"
    ? new Date(Date.parse(begin) + length).toISOString()
    : inBaseUnit(Number(begin) + length, 1);
}

function mapTable(traces: readonly Trace[], layout: Partial<Layout>): ExportTable {
  const bar = traces.find(({ colorbar }) => colorbar)?.colorbar?.title?.text ?? "";
  const value = axisNamed(`Value (${bar})`);
  const rows = traces.flatMap(({ name = "", x, y, z }) => {
    const across = cellsOf(x);
    return cellsOf(y).flatMap((up, row) =>
      cellsOf(rowsOf(z)[row]).map(
        (cell, column): Row => [name, across[column] ?? column, up, value.read(cell)],
      ),
    );
  });
  const [x, y] = [axisOf(layout, "x"), axisOf(layout, "y")];
  return { columns: ["Trace", x.name, y.name, bar ? value.name : "Value"], rows };
}

function rowsOf(z: unknown): readonly unknown[] {
  return Array.isArray(z) ? z : [];
}

/** Axis `y2` is `yaxis2` in the layout. */
function axisOf(layout: Partial<Layout>, axis: string, otherwise?: unknown): Axis {
  const key = `${axis[0]}axis${axis.slice(1)}` as "xaxis" | "yaxis";
  const { title, type, tickvals, ticktext } = layout[key] ?? {};
  const own = typeof otherwise === "string" ? otherwise : axis.charAt(0);
  const text = title?.text?.replace(/<[^>]+>/g, " ").trim() || own;
  if (type === "date") return { name: `${text.replace(/ \([^()]*\)$/, "")} (UTC)`, read: utc };
  const named = placesOf(tickvals, ticktext);
  return named ? { name: text, read: named } : axisNamed(text);
}

/** `Throughput (MB/s)` becomes bytes per second. */
function axisNamed(title: string): Axis {
  const [, name, scale = ""] = /^(.*) \(([^()]+)\)$/.exec(title) ?? [];
  const base = baseUnitOf(scale);
  if (name === undefined || !base) return { name: title, read: cellOf };
  return {
    name: `${name} [${base.unit}]`,
    read: (value) => (typeof value === "number" ? inBaseUnit(value, base.factor) : cellOf(value)),
  };
}

/** Time axes use the displayed time zone. */
function utc(value: unknown): ExportCell {
  return typeof value === "string" ? fromLocalTime(value) : cellOf(value);
}

/** Category names by index. Marks may be offset from the centre. */
function placesOf(values: unknown, texts: unknown): Axis["read"] | undefined {
  const places = cellsOf(values);
  const names = cellsOf(texts);
  if (places.length === 0 || !places.every((place, index) => place === index)) return undefined;
  return (value) => (typeof value === "number" ? (names[Math.round(value)] ?? value) : cellOf(value));
}

/** A plotly column may be nested for groups, or a typed array. */
function cellsOf(column: unknown): ExportCell[] {
  if (!Array.isArray(column) && !ArrayBuffer.isView(column)) return [];
  return Array.from(column as ArrayLike<unknown>, cellOf);
}

function cellOf(value: unknown): ExportCell {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.join(" ") : String(value);
}
