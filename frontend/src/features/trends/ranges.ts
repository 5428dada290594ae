/** Two time ranges of a trend and what their points say. */

import type { Points } from "@/api/types";
import { percentile } from "@/lib/percentile";
import type { RangePair } from "@/plots/trendNotes";
import type { Analyses } from "./drawn";
import type { TrendView } from "./selection";

const DAY_MILLISECONDS = 86_400_000;
const USUAL_DAYS = 30;
const MOST_DAYS = 90;

/** Two ranges in the address. */
export type RangeView = Pick<TrendView, "a_from" | "a_to" | "b_from" | "b_to">;

/** The ranges in the address; undefined unless both have both ends. */
export function rangesOf({ a_from, a_to, b_from, b_to }: RangeView): RangePair | undefined {
  if (!(a_from && a_to && b_from && b_to)) return undefined;
  return { a: { from: a_from, to: a_to }, b: { from: b_from, to: b_to } };
}

export function viewOf({ a, b }: RangePair): RangeView {
  return { a_from: a.from, a_to: a.to, b_from: b.from, b_to: b.to };
}

/** The complete ranges of one page's address for a link to another page. */
export function rangeSearch(view: RangeView): RangeView {
  const ranges = rangesOf(view);
  return ranges ? viewOf(ranges) : {};
}

export const NO_RANGES: RangeView = {
  a_from: undefined,
  a_to: undefined,
  b_from: undefined,
  b_to: undefined,
};

/** Before and after the newest confirmed change that is no recovery, equally long; without one the last 30 days and the 30 before. */
export function firstRanges(analyses: Analyses, now: number): RangePair {
  const [newest] = [...analyses.values()]
    .flatMap(({ changes }) => changes)
    .filter(({ confirmed_at, direction }) => confirmed_at !== null && direction !== "recovered")
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (!newest) {
    const middle = now - USUAL_DAYS * DAY_MILLISECONDS;
    return pair(middle, middle, USUAL_DAYS * DAY_MILLISECONDS);
  }
  const end = newest.ended_at === null ? now : Date.parse(newest.ended_at);
  const start = Date.parse(newest.at);
  return pair(Date.parse(newest.previous_at), start, Math.min(end - start, MOST_DAYS * DAY_MILLISECONDS));
}

function pair(aTo: number, bFrom: number, length: number): RangePair {
  const span = (from: number, to: number) => ({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  });
  return { a: span(aTo - length, aTo), b: span(bFrom, bFrom + length) };
}

export interface RangeSummary {
  readonly n: number;
  readonly median: number;
  /** Half of the points are within. */
  readonly low: number;
  readonly high: number;
  /** Points that the server did not return. */
  readonly leftOut: number;
}

/** Null without points. */
export function summaryOf({ median: values, left_out: leftOut }: Points): RangeSummary | null {
  if (values.length === 0) return null;
  const ordered = values.toSorted((a, b) => a - b);
  return {
    n: ordered.length,
    median: (percentile(ordered, 50) + (ordered[Math.floor(ordered.length / 2)] ?? 0)) / 2,
    low: percentile(ordered, 25),
    high: percentile(ordered, 75),
    leftOut,
  };
}

/** Median of B relative to that of A; null without a ratio. */
export function ratioOf(
  a: RangeSummary | null | undefined,
  b: RangeSummary | null | undefined,
): number | null {
  return a && b && a.median > 0 ? b.median / a.median : null;
}
