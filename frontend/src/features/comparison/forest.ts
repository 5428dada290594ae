/** All primary metrics of a comparison as rows of one forest plot, best first. */

import { t } from "@lingui/core/macro";
import type { SideVerdict } from "@/api/types";
import { type Interval, reachOf } from "@/components/interval";
import { headlineWords } from "@/lib/headline";
import { describeValues, type TitleOf } from "@/lib/options";
import { type Compared, intervalOf, type Judged, judgedOf, type MetricRow } from "./compared";

/** A ratio of 30 still has its place; beyond, an arrow points out of the scale. */
const MOST_REACH = 32;

export interface ForestRow {
  readonly key: string;
  /** For example `xfs: write, 64 MiB`. */
  readonly name: string;
  /** All parameters. */
  readonly details: string;
  readonly side: number;
  readonly judged: Judged;
  /** Runs of the side and of the baseline. */
  readonly runs: readonly [number, number];
  /** As written. Null without a ratio. */
  readonly interval: Interval | null;
  /** As drawn: right of the middle is better, also where a lower value is better. */
  readonly drawn: Interval | null;
}

export interface Forest {
  readonly rows: readonly ForestRow[];
  readonly reach: number;
}

export function forestOf({ names, against, rows }: Compared, titleOf: TitleOf): Forest {
  const all = rows.flatMap((row) =>
    mainMetrics(row.metrics).flatMap((metric) =>
      names.flatMap((_, side) => rowOf({ ...row, metric }, side, { names, against, titleOf, rows }) ?? []),
    ),
  );
  const sorted = all.toSorted((a, b) => worth(b) - worth(a));
  const drawn = sorted.flatMap((row) => row.drawn ?? []);
  return { rows: sorted, reach: reachOf(drawn, MOST_REACH) };
}

/** Primary metrics without those of single writers; all metrics if none is primary. */
function mainMetrics(metrics: MetricRow["metrics"]): MetricRow["metrics"] {
  const primary = metrics.filter(({ is_primary, labels }) => is_primary && !("writer" in labels));
  return primary.length > 0 ? primary : metrics;
}

type Context = Compared & { readonly titleOf: TitleOf };

function rowOf(row: MetricRow, side: number, context: Context): ForestRow | null {
  const { names, against, titleOf, rows } = context;
  const judged = judgedOf(row, side, against);
  if (!judged) return null;
  const { metric } = row;
  const interval = intervalOf(judged.verdict);
  const words = [
    names.length > 2 && names[side],
    rows.length > 1 && row.name,
    headlineWords(metric),
    metric.target_name,
  ];
  return {
    key: [row.name, metric.metric, JSON.stringify(metric.labels), metric.target_name, side].join(" "),
    name: words.filter(Boolean).join(": "),
    details: [metric.title, describeValues(metric.labels, titleOf)].filter(Boolean).join(", "),
    side,
    judged,
    runs: [metric.numbers[side]?.n ?? 0, metric.numbers[against]?.n ?? 0],
    interval,
    drawn: interval && metric.better === "lower" ? inverted(interval) : interval,
  };
}

function inverted({ ratio, low, high }: Interval): Interval {
  const inverse = (value: number | null) => (value === null ? null : value > 0 ? 1 / value : MOST_REACH ** 2);
  return { ratio: inverse(ratio) ?? ratio, low: inverse(high), high: inverse(low) };
}

/** Rows without a ratio come last, those with too little behind it before them. */
function worth({ drawn, judged }: ForestRow): number {
  if (!drawn) return Number.NEGATIVE_INFINITY;
  return Math.log(Math.max(drawn.ratio, Number.MIN_VALUE)) - (judged.isGrey ? 1e6 : 0);
}

export interface SideCounts {
  readonly side: number;
  readonly better: number;
  readonly worse: number;
  /** Higher or lower, where neither direction is better. */
  readonly different: number;
  /** Equal, or a difference below the practical threshold. */
  readonly equal: number;
  readonly open: number;
  readonly unjudged: number;
}

const EQUAL: readonly SideVerdict["verdict"][] = ["equal", "below_practical"];

/** How many metrics of each side are better, worse, equal, not shown to differ, or without a verdict. */
export function countsOf({ rows }: Forest): SideCounts[] {
  return [...new Set(rows.map(({ side }) => side))].sort().map((side) => {
    const own = rows.filter((row) => row.side === side).map(({ judged }) => judged);
    const better = own.filter((one) => one.isJudged && one.direction === "better").length;
    const worse = own.filter((one) => one.isJudged && one.direction === "worse").length;
    const different = own.filter((one) => one.isJudged && one.direction === null).length;
    const ofVerdict = (known: readonly string[]) =>
      own.filter((one) => !one.isGrey && known.includes(one.verdict.verdict)).length;
    const [equal, open] = [ofVerdict(EQUAL), ofVerdict(["no_difference_shown"])];
    const unjudged = own.length - better - worse - different - equal - open;
    return { side, better, worse, different, equal, open, unjudged };
  });
}

/** For example `3 better, 1 worse, 2 no significant difference`. */
export function countWords(counts: SideCounts): string {
  return [
    counts.better > 0 && t`${counts.better} better`,
    counts.worse > 0 && t`${counts.worse} worse`,
    counts.different > 0 && t`${counts.different} different`,
    counts.equal > 0 && t`${counts.equal} equal within the practical threshold`,
    counts.open > 0 && t`${counts.open} no significant difference`,
    counts.unjudged > 0 && t`${counts.unjudged} without a verdict`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Ticks of the logarithmic axis, as factors: a few of 1/8 to 8, whichever fit. */
export function ticksOf(reach: number): readonly number[] {
  const steps = reach > 9 ? [10] : reach > 4.5 ? [4] : reach > 2.2 ? [2] : reach > 1.3 ? [1.25] : [1.05];
  return [...steps.map((step) => 1 / step).reverse(), 1, ...steps];
}
