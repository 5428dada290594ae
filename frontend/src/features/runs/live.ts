/** The last minutes of a running load as small lines; pure. */

import type { Curve } from "@/api/types";
import { coordinate } from "@/lib/units";

export interface LiveLine {
  readonly direction: "write" | "read";
  /** Of all nodes together, a value a second, the newest last; null where none of them said. */
  readonly values: readonly (number | null)[];
  readonly latest: number;
}

export const LIVE_COUNTERS = ["write_bytes_per_second", "read_bytes_per_second"] as const;
const SHOWN_SECONDS = 120;
/** A single value may be a mean over the time before the load. */
const FEWEST_VALUES = 2;

/** Directions in which anything moved lately. */
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

/** The nodes of a gang start in the same second and send their curves in pieces: the newest second that any has counts. */
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

/** An SVG path from 0 at the bottom to the largest value; a gap where there is none. */
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
