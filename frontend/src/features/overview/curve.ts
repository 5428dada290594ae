/** Geometry of a cell's small chart; pure. */

import type { CellTrend } from "@/api/types";

export const CURVE = { width: 240, height: 44 } as const;
const INSET = 3;
/** Smaller differences look flat: the height is at least this share of the level. */
const LEAST_RANGE_RATIO = 0.2;
/** A longer distance than this many usual ones breaks the line. */
const GAP_STEPS = 4;

interface Segment {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export interface Curve {
  /** Unbroken parts, as the attribute `points`. */
  readonly parts: readonly string[];
  readonly levels: readonly Segment[];
  /** Abscissae of changes. */
  readonly changes: readonly number[];
}

/** Return the chart of a period; null without points. */
export function curveOf(trend: CellTrend, periodSeconds: number): Curve | null {
  const { at_seconds: at, medians, levels, changes_seconds: changes } = trend;
  if (medians.length === 0) return null;
  const yOf = scaleOf([...medians, ...levels.flatMap(({ start, end }) => [start, end])]);
  const xOf = (seconds: number) => round((Math.min(seconds, periodSeconds) / periodSeconds) * CURVE.width);
  return {
    parts: unbroken(at).map((places) =>
      // A single point is a line of no length with round ends.
      (places.length > 1 ? places : [...places, ...places])
        .map((place) => `${xOf(at[place] ?? 0)},${yOf(medians[place] ?? 0)}`)
        .join(" "),
    ),
    levels: levels.map(({ start_seconds, end_seconds, start, end }) => ({
      x1: xOf(start_seconds),
      y1: yOf(start),
      x2: xOf(end_seconds),
      y2: yOf(end),
    })),
    changes: changes.map(xOf),
  };
}

function scaleOf(values: readonly number[]): (value: number) => number {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const middle = (least + most) / 2;
  const range = Math.max(most - least, Math.abs(middle) * LEAST_RANGE_RATIO) || 1;
  const top = middle + range / 2;
  return (value) => round(INSET + ((top - value) / range) * (CURVE.height - 2 * INSET));
}

/** Places of the points between gaps. */
function unbroken(at: readonly number[]): number[][] {
  const steps = at.slice(1).map((seconds, place) => seconds - (at[place] ?? 0));
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const parts: number[][] = [[0]];
  steps.forEach((step, place) => {
    if (step > GAP_STEPS * usual) parts.push([]);
    parts.at(-1)?.push(place + 1);
  });
  return parts;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
