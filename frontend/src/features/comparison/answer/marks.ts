/** Marks of the small forest plot of an answer. */

import { t } from "@lingui/core/macro";
import { type Interval, reachOf } from "@/components/interval";
import { formatFactor } from "@/lib/units";
import type { Contrast } from "./contrasts";

const MOST_MARKS = 6;
/** Wider than in a table, so that a factor of several is not cut. */
const MOST_REACH = 20;

export interface Mark {
  readonly key: string;
  readonly name: string;
  readonly interval: Interval;
  readonly words: string;
  /** Grey: no verdict. */
  readonly isFaint: boolean;
}

export interface Marks {
  readonly marks: readonly Mark[];
  /** Largest ratio on their scale. */
  readonly reach: number;
  readonly leftOut: number;
}

/** Return the largest ratios first, without those that have no meaning. */
export function marksOf(contrasts: readonly Contrast[]): Marks {
  const hasManySides = new Set(contrasts.map(({ side }) => side)).size > 1;
  const all = contrasts.flatMap((contrast): Mark[] => {
    const { key, what, side, kind, verdict } = contrast;
    const ratio = verdict.ratio ?? verdict.median_ratio;
    if (ratio === null || kind === "incomparable") return [];
    const { low, high } = verdict.ratio === null ? { low: null, high: null } : verdict;
    return [
      {
        key,
        name: hasManySides ? t`${side}: ${what}` : what,
        interval: { ratio, low, high },
        words: wordsOf(ratio, low, high),
        isFaint: kind === "few" || kind === "one_day",
      },
    ];
  });
  const marks = all.sort((a, b) => distance(b) - distance(a)).slice(0, MOST_MARKS);
  const intervals = marks.map(({ interval }) => interval);
  return { marks, reach: reachOf(intervals, MOST_REACH), leftOut: all.length - marks.length };
}

function distance({ interval: { ratio }, isFaint }: Mark): number {
  return isFaint ? 0 : Math.abs(Math.log(ratio));
}

function wordsOf(ratio: number, low: number | null, high: number | null): string {
  if (low === null || high === null) return t`${formatFactor(ratio)}x, no interval`;
  return t`${formatFactor(ratio)}x (${formatFactor(low)} to ${formatFactor(high)})`;
}
