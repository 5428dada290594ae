/** Rows behind a figure and the dimensions that distinguish them. */

import { t } from "@lingui/core/macro";
import type { MeasuredCell, Measurement } from "@/api/types";
import { groupBy } from "@/lib/grouping";
import { optionValue, plainTitle, type TitleOf, type Values, varyingNames } from "@/lib/options";
import { medianOf } from "@/lib/percentile";

export interface FigureRow {
  readonly parts: Values;
  readonly measured: Measurement;
}

type WithParts = Pick<FigureRow, "parts">;

/** Position of each run in start order, by run id. */
export type RunOrder = ReadonlyMap<number, number>;

const PLACE_TITLES: Readonly<Record<string, string>> = {
  variant: "Variant",
  target: "Target",
  node: "Node",
  loaded: "Loaded",
  all_tasks: t`Tasks on all nodes`,
  node_count: t`Nodes`,
  run: t`Run (in start order)`,
};
/** Meaning of a missing label. */
const ABSENT: Readonly<Record<string, string>> = { writer: t`Single writer`, observer: t`Nodes under load` };
const SPEAKS_FOR_ITSELF = new Set(["variant", "target", "node", "loaded", "operation"]);

/** Cells that differ in nothing, such as the rounds of a variant, give one row. */
export function rowsOf(cells: readonly MeasuredCell[]): FigureRow[] {
  const rows = cells.flatMap((cell) =>
    cell.measurements.map((measured) => ({ parts: partsOf(cell, measured), measured })),
  );
  return [...groupBy(rows, ({ parts }) => keyOf(parts)).values()].map(joined);
}

function joined(rows: readonly FigureRow[]): FigureRow {
  const [first, ...others] = rows;
  if (!first) throw new RangeError("no rows to join");
  if (others.length === 0) return first;
  const each = rows.map(({ measured }) => measured);
  const values = each.flatMap((measured) => measured.values);
  const measured = {
    ...first.measured,
    n: values.length,
    values,
    run_ids: each.flatMap(({ run_ids }) => run_ids),
    median: medianOf(values),
    low: Math.min(...each.map(({ low }) => low)),
    high: Math.max(...each.map(({ high }) => high)),
    flags: [...new Set(each.flatMap(({ flags }) => flags))],
  };
  return { parts: first.parts, measured };
}

/** Places come first: of names that always vary together, the first is kept. */
function partsOf(cell: MeasuredCell, measured: Measurement): Values {
  const { variant, options, node_names, target_names } = cell;
  return {
    variant,
    target: measured.target_name ?? target_names.join(" + "),
    loaded: target_names.length > 1 ? t`${target_names.length} targets at once` : t`one target`,
    node: node_names.join(" + "),
    ...options,
    ...measured.labels,
  };
}

export function runOrder(cells: readonly MeasuredCell[]): RunOrder {
  const runs = cells.flatMap((cell) => cell.runs).filter(({ started_at }) => started_at !== null);
  runs.sort((a, b) => Date.parse(a.started_at ?? "") - Date.parse(b.started_at ?? "") || a.id - b.id);
  return new Map(runs.map(({ id }, index) => [id, index + 1]));
}

/** Return the names that distinguish rows; of several that always vary together, the first. */
export function dimensionsOf(rows: readonly WithParts[]): string[] {
  const kept: string[] = [];
  for (const name of varyingNames(rows.map(({ parts }) => parts))) {
    if (!kept.some((earlier) => isSameSplit(rows, earlier, name))) kept.push(name);
  }
  return kept;
}

function isSameSplit(rows: readonly WithParts[], one: string, other: string): boolean {
  const ones = new Set(rows.map(({ parts }) => keyOf(parts[one])));
  const others = new Set(rows.map(({ parts }) => keyOf(parts[other])));
  const pairs = new Set(rows.map(({ parts }) => `${keyOf(parts[one])} ${keyOf(parts[other])}`));
  return pairs.size === ones.size && pairs.size === others.size;
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** Return the values of a dimension, numbers by size and others in plan order; undefined for a missing one. */
export function valuesOf(rows: readonly FigureRow[], name: string): unknown[] {
  const values = new Map(rows.map(({ parts }) => [keyOf(parts[name]), parts[name]]));
  const found = [...values.values()];
  return found.every((value) => typeof value === "number") ? found.sort((a, b) => a - b) : found;
}

/** Return whether all values are numbers. Ordinals of writers are names. */
export function isNumeric(rows: readonly FigureRow[], name: string): boolean {
  return name !== "writer" && valuesOf(rows, name).every((value) => typeof value === "number");
}

export function titleOfDimension(name: string, titleOf: TitleOf): string {
  return PLACE_TITLES[name] ?? titleOf(name) ?? plainTitle(name);
}

/** Return the value as text, as in the address. */
export function textOf({ parts }: WithParts, name: string): string {
  return optionValue(name, parts[name]);
}

/** Return the name of a row among others that differ in `names`. */
export function nameRow(row: WithParts, names: readonly string[], titleOf: TitleOf): string {
  return [...names]
    .sort((a, b) => Number(SPEAKS_FOR_ITSELF.has(b)) - Number(SPEAKS_FOR_ITSELF.has(a)))
    .map((name) => {
      const text = textOf(row, name);
      if (row.parts[name] === undefined) return ABSENT[name] ?? `${titleOfDimension(name, titleOf)} –`;
      return SPEAKS_FOR_ITSELF.has(name) ? text : `${titleOfDimension(name, titleOf)} ${text}`;
    })
    .join(" · ");
}

/** Group rows by their values of `names`, in order of appearance. */
export function groupRows(rows: readonly FigureRow[], names: readonly string[]): FigureRow[][] {
  return [...groupBy(rows, (row) => names.map((name) => keyOf(row.parts[name])).join(" ")).values()];
}
