/** Recent throughput of a running load as small lines. */

import type { Curve } from "@/api/types";
import { coordinate } from "@/lib/units";

export interface LiveLine {
  readonly direction: "write" | "read";
  /** Sum of all nodes per second, newest last; null for missing seconds. */
  readonly values: readonly (number | null)[];
  readonly latest: number;
}

export const LIVE_COUNTERS = ["write_bytes_per_second", "read_bytes_per_second"] as const;
const SHOWN_SECONDS = 120;
/** A single value may be a mean that includes time before the load. */
const FEWEST_VALUES = 2;

/** Directions with recent traffic. */
export function liveLines(curves: readonly Curve[]): LiveLine[] {
  return LIVE_COUNTERS.flatMap((counter) => {
    const values = summed(curves.filter((curve) => curve.counter === counter));
    const latest = values.findLast((value) => value !== null);
    const known = values.filter((value) => value !== null);
    if (known.length < FEWEST_VALUES || !known.some((value) => value > 0)) return [];
    return [
      { direction: counter === "write_bytes_per_second" ? "write" : "read", values, latest: latest ?? 0 },
    ];
  });
}

/** Nodes of a gang start in the same second but send curves in pieces, so the newest second of any node counts. */
function summed(curves: readonly Curve[]): (number | null)[] {
  const bySecond = new Map<number, number>();
  for (const { started_at, step_seconds, values } of curves)
    for (const [index, value] of values.entries()) {
      const second = Math.floor(Date.parse(started_at) / 1000 + index * step_seconds);
      if (value !== null) bySecond.set(second, (bySecond.get(second) ?? 0) + value);
    }
  if (bySecond.size === 0) return [];
  const last = Math.max(...bySecond.keys());
  const first = Math.max(Math.min(...bySecond.keys()), last - SHOWN_SECONDS + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => bySecond.get(first + index) ?? null);
}

interface Box {
  readonly width: number;
  readonly height: number;
}

/** SVG path scaled from 0 to the largest value, with gaps for missing values. */
export function sparkline(values: readonly (number | null)[], { width, height }: Box): string {
  const largest = Math.max(1, ...values.map((value) => value ?? 0));
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let isPen = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isPen = false;
        return "";
      }
      const word = isPen ? "L" : "M";
      isPen = true;
      const y = height - 1 - (value / largest) * (height - 2);
      return `${word}${coordinate(index * step)},${coordinate(y)}`;
    })
    .join("");
}
