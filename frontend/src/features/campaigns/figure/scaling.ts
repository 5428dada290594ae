/** Rows of a scaling figure: total values over the tasks on all nodes. */

import { groupBy } from "@/lib/grouping";
import {
  type IdealLine,
  idealLine,
  idealShare,
  isOnAxis,
  type Scaled,
  tasksInAll,
  tasksOption,
} from "@/lib/scaling";
import { type FigureRow, groupRows, valuesOf } from "./rows";

const ALL_TASKS = "all_tasks";
const NODE_COUNT = "node_count";
/** Dimensions that nodes and tasks give: one is the axis, the other is only in the table. */
export const TOTALS: readonly string[] = [ALL_TASKS, NODE_COUNT];

const NODES = "nodes";
const PARTIAL = ["writer", "observer"];

function nodesOf({ parts }: FigureRow): string[] {
  return String(parts.node ?? "").split(" + ");
}

/** Check that rows have groups of nodes of different sizes. */
export function hasGrowingNodes(rows: readonly FigureRow[]): boolean {
  return new Set(rows.map((row) => nodesOf(row).length)).size > 1;
}

/** Check that totals were measured with two numbers of nodes or tasks, and each number of nodes on the same nodes. */
export function canScale(rows: readonly FigureRow[]): boolean {
  const scaled = scaledRows(rows);
  const sets = new Map<number, Set<string>>();
  for (const row of rows) {
    const names = nodesOf(row);
    sets.set(names.length, (sets.get(names.length) ?? new Set()).add(names.join()));
  }
  return (
    valuesOf(scaled, scalingAxis(scaled)).length > 1 && [...sets.values()].every(({ size }) => size === 1)
  );
}

/**
 * Return the rows of totals with tasks and nodes in numbers. Of nodes that each run a program, the sum counts and not
 * a single node's value.
 */
export function scaledRows(rows: readonly FigureRow[]): FigureRow[] {
  const whole = rows.filter(
    ({ parts }) => PARTIAL.every((name) => parts[name] === undefined) && isOnAxis(tasksInAll(parts, 1)),
  );
  const keyOf = ({ parts: { [NODES]: _, ...parts } }: FigureRow) => JSON.stringify(parts);
  return [...groupBy(whole, keyOf).values()].flatMap((alike) => {
    const sums = alike.filter(({ parts }) => parts[NODES] !== undefined);
    return (sums.length > 0 ? sums : alike).map(scaledRow);
  });
}

function scaledRow(row: FigureRow): FigureRow {
  const { node: _, [NODES]: _sum, ...parts } = row.parts;
  const count = nodesOf(row).length;
  const tasks = tasksOption(parts) && { [ALL_TASKS]: tasksInAll(parts, count) };
  // First, so that they are kept where tasks or nodes always vary with them.
  return { ...row, parts: { ...tasks, [NODE_COUNT]: count, ...parts } };
}

/** Without an option for tasks, nodes are counted. */
export function scalingAxis(rows: readonly FigureRow[]): string {
  return rows.some(({ parts }) => ALL_TASKS in parts) ? ALL_TASKS : NODE_COUNT;
}

interface Ideal extends IdealLine {
  /** Rows that differ in nodes and tasks only. */
  readonly rows: readonly FigureRow[];
}

/** Return the ideal line of each group of rows that differ in nodes and tasks only. */
export function idealsOf(rows: readonly FigureRow[], dimensions: readonly string[]): Ideal[] {
  const tasks = rows.map(({ parts }) => tasksOption(parts)).find((name) => name !== undefined);
  const others = dimensions.filter((name) => !TOTALS.includes(name) && name !== tasks);
  return groupRows(rows, others).flatMap((alike) => {
    const line = idealLine(alike.map(scaledOf));
    return line ? [{ ...line, rows: alike }] : [];
  });
}

/** Return the share of ideal scaling that each row reached; 1 for the smallest configuration. */
export function idealShares(
  rows: readonly FigureRow[],
  dimensions: readonly string[],
): ReadonlyMap<FigureRow, number> {
  const shares = idealsOf(rows, dimensions).flatMap(({ from, rows: alike }) =>
    alike.map((row) => [row, idealShare(scaledOf(row), from)] as const),
  );
  return new Map(shares);
}

function scaledOf({ parts, measured }: FigureRow): Scaled {
  return { tasks: Number(parts[ALL_TASKS] ?? parts[NODE_COUNT]), value: measured.median };
}
