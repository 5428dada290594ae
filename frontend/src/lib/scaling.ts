/** Scaling over nodes and tasks: totals, and what they would be if each task added as much as the first ones. */

import type { Values } from "./options";
import type { Unit } from "./units";

/** Only rates add up over tasks. */
export const RATES: readonly Unit[] = ["bytes_per_second", "operations_per_second"];

/** Options with the number of parallel tasks on each node. */
const TASKS = ["tasks", "processes", "num_jobs", "writers"];

export function tasksOption(options: Values): string | undefined {
  return TASKS.find((name) => typeof options[name] === "number");
}

/** Return the tasks on all nodes; the number of nodes if the workload has no such option. */
export function tasksInAll(options: Values, nodeCount: number): number {
  const name = tasksOption(options);
  return nodeCount * (name === undefined ? 1 : Number(options[name]));
}

export interface Scaled {
  /** Tasks on all nodes. */
  readonly tasks: number;
  readonly value: number;
}

/** Check that a logarithmic axis has a place for this number of tasks: for some workloads 0 means a default. */
export function isOnAxis(tasks: number): boolean {
  return Number.isFinite(tasks) && tasks > 0;
}

/** Return the smallest measured configuration; of several, the best. */
function leastOf(measured: readonly Scaled[]): Scaled | undefined {
  return [...measured].sort((a, b) => a.tasks - b.tasks || b.value - a.value)[0];
}

export interface IdealLine {
  readonly from: Scaled;
  readonly to: Scaled;
}

/** Return the line from the smallest configuration to as many tasks as the largest; undefined without a value. */
export function idealLine(measured: readonly Scaled[]): IdealLine | undefined {
  const from = leastOf(measured);
  if (!from || from.value <= 0) return undefined;
  const tasks = Math.max(...measured.map((one) => one.tasks));
  return { from, to: { tasks, value: (from.value * tasks) / from.tasks } };
}

/** Return the smallest and largest number above 0, for a logarithmic axis. */
export function spanOf(values: readonly number[]): readonly [number, number] {
  const shown = values.filter((value) => value > 0);
  return shown.length === 0 ? [1, 1] : [Math.min(...shown), Math.max(...shown)];
}

/** Return the share of the value that the least one promises: 1 if it scales ideally. */
export function idealShare({ tasks, value }: Scaled, least: Scaled): number {
  return value / least.value / (tasks / least.tasks);
}

/** Return the powers of two from below the smallest to above the largest number. */
export function powersOfTwo(numbers: readonly number[]): number[] {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const [first, last] = [Math.floor(Math.log2(least)), Math.ceil(Math.log2(most))];
  return Array.from({ length: last - first + 1 }, (_, place) => 2 ** (first + place));
}
