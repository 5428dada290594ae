/** Data of the drawn series for figures and lists. */

import { t } from "@lingui/core/macro";
import type { Points, SeriesAnalysis, SeriesChange } from "@/api/types";
import { type LaneMark, laneOf } from "@/plots/chartEvents";
import type { TrendLine } from "@/plots/trend";
import type { Incident } from "@/plots/trendNotes";
import type { ChangeMark, DriftLine } from "@/plots/trendShapes";
import { causeOf } from "./causes";

export interface NamedPoints {
  readonly name: string;
  readonly points: Points;
}

/** A selected point. */
export interface ChosenPoint {
  readonly seriesId: number;
  readonly cellId: number;
}

export type Failure = Points["failures"][number];
export type Analyses = ReadonlyMap<number, SeriesAnalysis>;

export function toLine({ name, points }: NamedPoints, analyses: Analyses): TrendLine {
  const { at, median, low, high, n, flags, usual_flags: usual } = points;
  const analysis = analyses.get(points.series.id);
  const changes = (analysis?.changes ?? [])
    .flatMap((change) =>
      change.confirmed_at === null ? [] : marksOf(change, causeOf(change, analysis?.events)),
    )
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const band = analysis?.suspect ?? null;
  return {
    ...{ name, at, median, low, high, n, flags, usual, changes, band },
    cellId: points.cell_id,
    drift: driftOf(analysis),
    incidents: incidentsOf(analysis),
    gaps: points.gaps,
  };
}

/** A shift that is over also has a mark at its end, which no other change marks. */
function marksOf(change: SeriesChange, cause: string | null): ChangeMark[] {
  const { at, previous_at: previousAt, ended_at: end, words } = change;
  const { median_before: before, median_after: after } = change;
  const start = { at, previousAt, words, before, after, cause, isRecovery: change.direction === "recovered" };
  if (!change.is_over || end === null) return [start];
  return [start, { at: end, previousAt: end, words, before: after, after: before, isRecovery: true }];
}

/** Confirmed drops that are over, from their start to their recovery. */
function incidentsOf(analysis: SeriesAnalysis | undefined): Incident[] {
  return (analysis?.changes ?? []).flatMap(({ at, ended_at: until, direction, confirmed_at: confirmed }) =>
    confirmed !== null && until !== null && direction === "worse" ? [{ since: at, until }] : [],
  );
}

function driftOf(analysis: SeriesAnalysis | undefined): DriftLine | null {
  if (!analysis?.drift) return null;
  const { shape, path } = analysis.drift;
  return { shape, path };
}

/** A mark and the target of a click on it. */
export interface ChartEvent extends LaneMark {
  readonly eventId: number | null;
  readonly cellId: number | null;
  readonly runId: number | null;
}

const NOTHING_MORE = { isBetter: null, isChosen: false, eventId: null, cellId: null, runId: null } as const;

/** Null for a recovery. */
function goodness(direction: SeriesChange["direction"]): boolean | null {
  return direction === "better" || direction === "worse" ? direction === "better" : null;
}

/** Changes for a list. A recovery is shown in the row of the change that it reverts. */
export function listedChanges(changes: readonly SeriesChange[]): readonly SeriesChange[] {
  const recoveries = new Set(changes.map(({ recovered_by }) => recovered_by));
  return changes.filter(({ id, direction }) => direction !== "recovered" || !recoveries.has(id));
}

/** For example `3 runs failed: took longer than 60 s`. */
export function failureWords({ run_count: count, reason, reason_code: code }: Failure): string {
  const failed = count === 1 ? t`1 run failed` : t`${count} runs failed`;
  return `${failed}: ${reason || code || t`no reason recorded`}`;
}

/** Changes and events of the drawn series in time order, each event once. */
export function chartEvents(
  lines: readonly NamedPoints[],
  analyses: Analyses,
  chosenEventId: number | undefined,
): ChartEvent[] {
  const found = new Map<string, ChartEvent>();
  for (const { name, points } of lines) {
    const analysis = analyses.get(points.series.id);
    const prefix = lines.length > 1 ? `${name}: ` : "";
    for (const change of analysis?.changes ?? []) {
      if (change.confirmed_at === null) continue;
      found.set(`change ${change.id}`, {
        ...NOTHING_MORE,
        lane: "Changes",
        at: change.at,
        words: `${prefix}${change.words}`,
        isBetter: goodness(change.direction),
        cellId: change.cell_id,
      });
    }
    for (const failure of points.failures)
      found.set(`failure ${failure.cell_id}`, {
        ...NOTHING_MORE,
        lane: "Failures",
        at: failure.at,
        words: `${prefix}${failureWords(failure)}`,
        count: failure.run_count,
        runId: failure.run_id,
      });
    for (const { event } of analysis?.events ?? [])
      found.set(`event ${event.id}`, {
        ...NOTHING_MORE,
        lane: laneOf(event),
        at: event.at,
        words: event.told_by === null ? event.text : t`${event.text}, source: ${event.told_by}`,
        isChosen: event.id === chosenEventId,
        eventId: event.id,
      });
  }
  return [...found.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Points on each side. */
const POINTS_ON_EACH_SIDE = 60;

/** Points around a time, with gaps and failures among them. */
export function around(points: Points, moment: string): Points {
  const place = points.at.findIndex((time) => Date.parse(time) >= Date.parse(moment));
  const middle = place === -1 ? points.at.length : place;
  const cut = <Value>(column: readonly Value[]) =>
    column.slice(Math.max(0, middle - POINTS_ON_EACH_SIDE), middle + POINTS_ON_EACH_SIDE);
  const at = cut(points.at);
  const [first, last] = [Date.parse(at[0] ?? moment), Date.parse(at.at(-1) ?? moment)];
  // Include everything after the newest point, since the axis ends now.
  const end = at.at(-1) === points.at.at(-1) ? Number.POSITIVE_INFINITY : last;
  return {
    ...points,
    at,
    median: cut(points.median),
    low: cut(points.low),
    high: cut(points.high),
    n: cut(points.n),
    variation_ratio: cut(points.variation_ratio),
    robust_spread_ratio: cut(points.robust_spread_ratio),
    cell_id: cut(points.cell_id),
    campaign_id: cut(points.campaign_id),
    flags: cut(points.flags),
    usual_flags: cut(points.usual_flags),
    gaps: points.gaps.filter(
      ({ since, until }) => Date.parse(since) < end && (until === null || Date.parse(until) > first),
    ),
    failures: points.failures.filter((failure) => {
      const failed = Date.parse(failure.at);
      return first <= failed && failed <= end;
    }),
  };
}
