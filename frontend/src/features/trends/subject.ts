/** Series shown on the page of a node or target, and what their analyses say in one line. */

import { t } from "@lingui/core/macro";
import type { Points, Series, SeriesAnalysis } from "@/api/types";
import { formatDay } from "@/lib/time";
import { formatShift } from "@/lib/units";
import { byQuantity, quantityOf } from "./quantity";

export const SUBJECT_DAYS = 90;
const DAY_MILLISECONDS = 86_400_000;
const MOST_PANELS = 12;
/** Of one workload, such as IOzone with its 13 operations. */
const MOST_QUANTITIES = 4;
const MOST_LINES = 4;
const MOST_REGRESSIONS = 2;

export interface SubjectPanel {
  readonly workload: string;
  /** For example `Throughput, write`. */
  readonly title: string;
  /** Series of one quantity, those with most points first. */
  readonly series: readonly Series[];
  /** Number of series of this quantity that are not drawn. */
  readonly leftOut: number;
}

export interface SubjectPanels {
  readonly panels: readonly SubjectPanel[];
  /** Workloads whose newest point is older than the period. */
  readonly old: readonly { readonly workload: string; readonly lastAt: string }[];
  /** Panels that are not drawn. */
  readonly hidden: readonly string[];
}

/** Panels of each workload that was measured in the period, by the metric that describes it best. */
export function subjectPanels(all: readonly Series[], since: number): SubjectPanels {
  const byWorkload = new Map<string, Series[]>();
  for (const one of all.filter(isShown))
    byWorkload.set(one.workload, [...(byWorkload.get(one.workload) ?? []), one]);
  const panels: SubjectPanel[] = [];
  const more: SubjectPanel[] = [];
  const old: { workload: string; lastAt: string }[] = [];
  for (const [workload, own] of [...byWorkload].sort(([a], [b]) => a.localeCompare(b))) {
    const recent = own.filter(({ last_at }) => Date.parse(last_at ?? "") >= since);
    if (recent.length > 0) {
      const quantities = panelsOf(workload, recent);
      panels.push(...quantities.slice(0, MOST_QUANTITIES));
      more.push(...quantities.slice(MOST_QUANTITIES));
    } else old.push({ workload, lastAt: newestOf(own) });
  }
  const hidden = [...panels.slice(MOST_PANELS), ...more].map(
    ({ workload, title }) => `${workload}: ${title}`,
  );
  return { panels: panels.slice(0, MOST_PANELS), old, hidden };
}

/** Start of the period in milliseconds, the same for the whole day, so that requests are not repeated. */
export function subjectSince(now: number): number {
  return Math.floor(now / DAY_MILLISECONDS) * DAY_MILLISECONDS - SUBJECT_DAYS * DAY_MILLISECONDS;
}

function isShown({ superseded, better, labels, point_count }: Series): boolean {
  return superseded === null && better !== "neither" && !("writer" in labels) && point_count > 0;
}

function newestOf(series: readonly Series[]): string {
  return (
    series
      .map(({ last_at }) => last_at ?? "")
      .toSorted()
      .at(-1) ?? ""
  );
}

/** Rates before durations, then the metric with the most points; a panel for each of its quantities. */
function panelsOf(workload: string, series: readonly Series[]): SubjectPanel[] {
  const weights = new Map<string, number>();
  for (const { metric, better, point_count } of series)
    weights.set(metric, (weights.get(metric) ?? (better === "higher" ? 1e9 : 0)) + point_count);
  const [metric] = [...weights].reduce((best, one) => (one[1] > best[1] ? one : best));
  const own = series
    .filter((one) => one.metric === metric)
    .sort((a, b) => b.point_count - a.point_count || a.id - b.id);
  const titleOf = (one: Series) => [one.title, quantityOf(one)].filter(Boolean).join(", ");
  return byQuantity(own, (one) => one, titleOf).map(({ title, items }) => ({
    workload,
    title,
    series: items.slice(0, MOST_LINES),
    leftOut: Math.max(0, items.length - MOST_LINES),
  }));
}

export interface Regression {
  readonly series: Series;
  /** For example `−12.0 % since 7 Sep 2026`. */
  readonly words: string;
  readonly size: number;
}

/** Confirmed changes for the worse that are not over, and gradual declines; the largest of each series. */
export function regressionsOf(
  series: readonly Series[],
  analyses: ReadonlyMap<number, SeriesAnalysis>,
): Regression[] {
  return series
    .flatMap((one) => {
      const analysis = analyses.get(one.id);
      const found = analysis ? [...steps(one, analysis), ...drift(one, analysis)] : [];
      return found.sort(largestFirst).slice(0, 1);
    })
    .sort(largestFirst);
}

function largestFirst(a: Regression, b: Regression): number {
  return b.size - a.size;
}

function steps(series: Series, { changes }: SeriesAnalysis): Regression[] {
  return changes
    .filter(
      ({ direction, confirmed_at, ended_at, is_over }) =>
        direction === "worse" && confirmed_at !== null && ended_at === null && !is_over,
    )
    .map(({ shift_ratio, at }) => regression(series, shift_ratio, t`since ${formatDay(at)}`));
}

function drift(series: Series, { drift: found }: SeriesAnalysis): Regression[] {
  if (!found || found.shape === "wave") return [];
  const isWorse = found.end > found.start === (series.better === "lower") && found.end !== found.start;
  return isWorse
    ? [regression(series, found.shift_ratio, t`gradually since ${formatDay(found.start_at)}`)]
    : [];
}

function regression(series: Series, shift: number | null, since: string): Regression {
  const amount = shift === null ? t`worse` : formatShift(1 + shift);
  return { series, words: `${amount} ${since}`, size: Math.abs(shift ?? 0) };
}

export interface SubjectStatus {
  readonly regressions: readonly Regression[];
  /** Number of further series that are worse. */
  readonly more: number;
  /** Numbers of the other series: without a change, with too few points, without new data. */
  readonly others: readonly string[];
}

/** Summarise the drawn series. Series that cannot be judged are counted, never called good. */
export function subjectStatus(
  series: readonly Series[],
  analyses: ReadonlyMap<number, SeriesAnalysis>,
  points: readonly Points[],
): SubjectStatus {
  const regressions = regressionsOf(series, analyses);
  const worse = new Set(regressions.map(({ series: { id } }) => id));
  const stale = points.filter(({ gaps }) => gaps.some(({ until }) => until === null));
  const isJudged = ({ id }: Series) => !["too_short", null].includes(analyses.get(id)?.course ?? null);
  const judged = series.filter((one) => isJudged(one) || worse.has(one.id));
  const steady = judged.filter(({ id }) => !worse.has(id)).length;
  const few = series.length - judged.length;
  return {
    regressions: regressions.slice(0, MOST_REGRESSIONS),
    more: Math.max(0, regressions.length - MOST_REGRESSIONS),
    others: [
      ...(steady > 0 ? [t`${steady} of ${series.length} series without an open regression`] : []),
      ...(few > 0 ? [t`${few} of ${series.length} series with too few points`] : []),
      ...(stale.length > 0 ? [staleWords(stale)] : []),
    ],
  };
}

function staleWords(stale: readonly Points[]): string {
  const since = stale.flatMap(({ gaps }) =>
    gaps.filter(({ until }) => until === null).map((gap) => gap.since),
  );
  const oldest = since.toSorted()[0] ?? "";
  return stale.length === 1
    ? t`1 series without data since ${formatDay(oldest)}`
    : t`${stale.length} series without data, the longest since ${formatDay(oldest)}`;
}
