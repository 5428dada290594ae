/** Pivot table of a metric: a row for each set of parameters, a column for each target, node or variant, best first. */

import { t } from "@lingui/core/macro";
import type { CellResult } from "@/api/types";
import { groupBy } from "@/lib/grouping";
import type { TitleOf, Values } from "@/lib/options";
import { percentile } from "@/lib/percentile";
import { STACKED } from "./figure/choice";
import { dimensionsOf, nameRow } from "./figure/rows";
import type { Measured, ResultGroup } from "./results";

export interface Pivot {
  readonly columns: readonly Line[];
  readonly rows: readonly PivotRow[];
  /** Value that fills a bar. */
  readonly largest: number;
}

interface Line {
  readonly key: string;
  readonly name: string;
}

export interface PivotRow extends Line {
  /** Values by column; several if the campaign has a configuration more than once. */
  readonly values: readonly (readonly PivotValue[])[];
}

export interface PivotValue extends Measured {
  /** Parts of a duration, such as user and sys; empty for other metrics. */
  readonly parts: readonly CellResult[];
}

/** A value with the parameters and the place that it belongs to. */
interface Placed {
  readonly value: PivotValue;
  readonly parts: Values;
  readonly place: Values;
}

const PART = "part";
const PLACES = ["target", "node", "variant"];
const PAIR = ["target", "node"];
const MOST_COLUMNS = 8;
/** With more pairs of target and node, pairs have no columns. */
const MOST_PAIRS = 4;

export function pivotOf({ rows }: ResultGroup, titleOf: TitleOf): Pivot {
  const placed = withParts(rows).map(placedOf);
  const across = chooseColumns(placed);
  const down = PLACES.filter((name) => !across.includes(name) && distinct(placed, [name]) > 1);
  const varying = [...down, ...dimensionsOf(placed)];
  // A single row is named by what was measured.
  const names = varying.length > 0 ? varying : Object.keys(rows[0]?.result.labels ?? {});
  const columns = linesOf(placed, ({ place }) => place, across);
  const lines = linesOf(placed, ({ place, parts }) => ({ ...place, ...parts }), names);
  return {
    columns: columns.map(({ key, values }) => ({ key, name: columnTitle(values, across, down) })),
    rows: lines.map(({ key, values, members }) => ({
      key,
      name: nameRow(
        { parts: values },
        names.filter((name) => name !== PART || name in values),
        titleOf,
      ),
      values: columns.map((column) =>
        members.filter(({ place }) => keyOf(place, across) === column.key).map(({ value }) => value),
      ),
    })),
    largest: Math.max(0, ...placed.map(({ value }) => lengthOf(value))),
  };
}

/** Threads may use more CPU time than has elapsed. */
function lengthOf({ result, parts }: PivotValue): number {
  return Math.max(
    result.median,
    parts.reduce((sum, { median }) => sum + median, 0),
  );
}

/** Join the parts of a duration to the elapsed time that they belong to. */
function withParts(measured: readonly Measured[]): PivotValue[] {
  const keyOf = ({ cell, result: { labels } }: Measured) =>
    JSON.stringify([cell.id, Object.entries(labels).filter(([name]) => name !== PART)]);
  const partOf = ({ result }: Measured) => String(result.labels[PART]);
  const isPart = (one: Measured) => STACKED.parts.includes(partOf(one));
  const wholes = new Set(measured.filter((one) => partOf(one) === STACKED.whole).map(keyOf));
  const parts = groupBy(measured.filter(isPart), keyOf);
  return measured
    .filter((one) => !(isPart(one) && wholes.has(keyOf(one))))
    .map((one) => {
      const own = (partOf(one) === STACKED.whole && parts.get(keyOf(one))) || [];
      own.sort((a, b) => STACKED.parts.indexOf(partOf(a)) - STACKED.parts.indexOf(partOf(b)));
      return { ...one, parts: own.map(({ result }) => result) };
    });
}

function placedOf(value: PivotValue): Placed {
  const { target_names, node_names, variant, options } = value.cell;
  const { [PART]: part, ...labels } = value.result.labels;
  const isStacked = value.parts.length > 0 || part === undefined;
  return {
    value,
    parts: { ...options, ...labels, ...(!isStacked && { part }) },
    place: { target: target_names.join(" + "), node: node_names.join(" + "), variant },
  };
}

/** Return what a column stands for: target and node if few, else the first place that varies; none for one column. */
function chooseColumns(placed: readonly Placed[]): readonly string[] {
  const isSpread = (name: string) => distinct(placed, [name]) > 1;
  if (PAIR.every(isSpread) && distinct(placed, PAIR) <= MOST_PAIRS) return PAIR;
  return PLACES.filter((name) => isSpread(name) && distinct(placed, [name]) <= MOST_COLUMNS).slice(0, 1);
}

function distinct(placed: readonly Placed[], names: readonly string[]): number {
  return new Set(placed.map(({ place }) => keyOf(place, names))).size;
}

function keyOf(values: Values, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => values[name] ?? null));
}

/** A single column is named by the place that all values share. */
function columnTitle(place: Values, across: readonly string[], down: readonly string[]): string {
  if (across.length > 0) return across.map((name) => String(place[name]) || t`no variant`).join(", ");
  const shared = PLACES.filter((name) => !down.includes(name)).map((name) => place[name]);
  return shared.filter(Boolean).join(", ");
}

/** Return the rows or columns that differ in `names`, best median first. Without a better direction, in plan order. */
function linesOf(placed: readonly Placed[], valuesOf: (one: Placed) => Values, names: readonly string[]) {
  const sign = { higher: -1, lower: 1, neither: 0 }[placed[0]?.value.result.better ?? "neither"];
  return [...groupBy(placed, (one) => keyOf(valuesOf(one), names))]
    .map(([key, members]) => ({
      key,
      values: members[0] ? valuesOf(members[0]) : {},
      members,
      median: medianOf(members),
    }))
    .sort((a, b) => sign * (a.median - b.median));
}

function medianOf(members: readonly Placed[]): number {
  const medians = members.map(({ value }) => value.result.median).sort((a, b) => a - b);
  return percentile(medians, 50);
}
