/** Position of a ratio and its interval on a logarithmic scale with "no difference" in the middle. */

export interface Interval {
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Mark {
  /** 0 to 1; null if outside the scale. */
  readonly dot: number | null;
  readonly bar: { readonly from: number; readonly to: number } | null;
  /** Whether the interval extends beyond the left or right end. */
  readonly cutLow: boolean;
  readonly cutHigh: boolean;
}

const LEAST_REACH = 1.1;
const MOST_REACH = 4;

/** Return the reach that shows all intervals, within bounds: on a scale of a few per cent, noise would look large. */
export function reachOf(intervals: readonly Interval[], most = MOST_REACH): number {
  const ends = intervals.flatMap(({ ratio, low, high }) => [ratio, low ?? ratio, high ?? ratio]);
  const far = ends.filter((end) => end > 0).map((end) => Math.max(end, 1 / end));
  return Math.min(most, Math.max(LEAST_REACH, ...far) * 1.02);
}

export function markOf({ ratio, low, high }: Interval, reach: number): Mark {
  const place = (value: number) =>
    value > 0 ? 0.5 + Math.log(value) / (2 * Math.log(reach)) : Number.NEGATIVE_INFINITY;
  const within = (at: number) => Math.min(1, Math.max(0, at));
  const ends = [low ?? ratio, high ?? ratio].map(place);
  const [from = 0, to = 1] = ends;
  const at = place(ratio);
  return {
    dot: at < 0 || at > 1 ? null : at,
    bar: low === null || high === null ? null : { from: within(from), to: within(to) },
    cutLow: from < 0,
    cutHigh: to > 1,
  };
}
