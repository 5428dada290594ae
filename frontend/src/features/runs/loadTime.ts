/** How long the commands of a run actually ran. */

import type { RunDetail } from "@/api/types";

/** A load shorter than two samples fills no second, so every value would include idle time. */
const FEWEST_SAMPLES = 2;

/** Seconds in which at least one command ran on the busiest node, without pauses. */
export function loadSeconds({ attempts }: RunDetail): number {
  const orders = attempts.flatMap((attempt) => attempt.orders).filter(({ role }) => role === "load");
  return Math.max(0, ...orders.map(({ steps }) => together(steps.map(interval))));
}

/** The run has ended and its curve cannot show the throughput. */
export function isTooShortForCurve(run: RunDetail, stepSeconds: number): boolean {
  const seconds = loadSeconds(run);
  return run.state !== "active" && seconds > 0 && seconds < FEWEST_SAMPLES * stepSeconds;
}

type Interval = readonly [begin: number, end: number];

function interval({ started_at, wall_seconds }: { started_at: string; wall_seconds: number }): Interval {
  const begin = Date.parse(started_at) / 1000;
  return [begin, begin + wall_seconds];
}

function together(intervals: readonly Interval[]): number {
  let seconds = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [begin, end] of intervals.toSorted(([a], [b]) => a - b)) {
    seconds += Math.max(0, end - Math.max(begin, until));
    until = Math.max(until, end);
  }
  return seconds;
}
