/** A series as a small line, with a dot for the run. */

import { t } from "@lingui/core/macro";
import type { Sparkline as Course } from "@/api/types";

const WIDTH = 96;
const HEIGHT = 24;
const INSET = 3;

export function Sparkline({ course, cellId }: { course: Course | undefined; cellId: number }) {
  if (!course || course.medians.length < 2) return null;
  const places = placesOf(course.medians);
  const own = places[course.cell_ids.indexOf(cellId)];
  return (
    <svg
      aria-label={t`Last ${course.medians.length} points of the series, ${own ? t`this run marked` : t`this run is older`}`}
      className="iotide-sparkline"
      height={HEIGHT}
      role="img"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
    >
      <polyline fill="none" points={places.map(({ x, y }) => `${x},${y}`).join(" ")} stroke="currentColor" />
      {own && <circle cx={own.x} cy={own.y} fill="currentColor" r={3} />}
    </svg>
  );
}

/** Scale values to the height; equal values lie in the middle. */
export function placesOf(values: readonly number[]): { x: number; y: number }[] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.map((value, index) => ({
    x: round(INSET + (index / (values.length - 1)) * (WIDTH - 2 * INSET)),
    y: round(high > low ? INSET + ((high - value) / (high - low)) * (HEIGHT - 2 * INSET) : HEIGHT / 2),
  }));
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
