/** What is known of the drawn series, as the figure and the lists take it; pure. */

import { t } from "@lingui/core/macro";
import type { Points, SeriesAnalysis, SeriesChange } from "@/api/types";
import { type LaneMark, laneOf } from "@/plots/happenings";
import type { DriftLine, TrendLine } from "@/plots/trend";

export interface NamedPoints {
  readonly name: string;
  readonly points: Points;
}

/** A point that the reader chose, in a chart or in a table. */
export interface ChosenPoint {
  readonly seriesId: number;
  readonly cellId: number;
}

export type Failure = Points["failures"][number];
export type Analyses = ReadonlyMap<number, SeriesAnalysis>;

export function toLine({ name, points }: NamedPoints, analyses: Analyses): TrendLine {
  const { at, median, low, high, n, flags } = points;
  const analysis = analyses.get(points.series.id);
  const changes = (analysis?.changes ?? []).flatMap((change) =>
    change.confirmed_at === null
      ? []
      : [
          {
            at: change.at,
            previousAt: change.previous_at,
            words: change.words,
            before: change.median_before,
            after: change.median_after,
          },
        ],
  );
  const band = analysis?.suspect ?? null;
  return {
    ...{ name, at, median, low, high, n, flags, changes, band },
    cellId: points.cell_id,
    drift: driftOf(analysis),
    gaps: points.gaps,
  };
}

function driftOf(analysis: SeriesAnalysis | undefined): DriftLine | null {
  if (!analysis?.drift) return null;
  const { start_at: startAt, end_at: endAt, start, end } = analysis.drift;
  return { startAt, endAt, start, end };
}

/** A mark with what a click on it leads to. */
export interface Happening extends LaneMark {
  readonly eventId: number | null;
  readonly cellId: number | null;
  readonly runId: number | null;
}

const NOTHING_MORE = { isBetter: null, isChosen: false, eventId: null, cellId: null, runId: null } as const;

/** Whether a change was for the better; a recovery is neither better nor worse. */
function goodness(direction: SeriesChange["direction"]): boolean | null {
  return direction === "better" || direction === "worse" ? direction === "better" : null;
}

/** The changes of a list: a recovery is part of the line of the change that it took back. */
export function listedChanges(changes: readonly SeriesChange[]): readonly SeriesChange[] {
  const recoveries = new Set(changes.map(({ recovered_by }) => recovered_by));
  return changes.filter(({ id, direction }) => direction !== "recovered" || !recoveries.has(id));
}

/** For instance `3 runs failed: took longer than 60 s`. */
export function failureWords({ run_count: count, reason, reason_code: code }: Failure): string {
  const failed = count === 1 ? t`1 run failed` : t`${count} runs failed`;
  return `${failed}: ${reason || code || t`no reason recorded`}`;
}

/** Changes of the drawn series and events around them, each event once, in time order. */
export function happenings(
  lines: readonly NamedPoints[],
  analyses: Analyses,
  chosenEventId: number | undefined,
): Happening[] {
  const found = new Map<string, Happening>();
  for (const { name, points } of lines) {
    const analysis = analyses.get(points.series.id);
    const told = lines.length > 1 ? `${name}: ` : "";
    for (const change of analysis?.changes ?? []) {
      if (change.confirmed_at === null) continue;
      found.set(`change ${change.id}`, {
        ...NOTHING_MORE,
        lane: "Changes",
        at: change.at,
        words: `${told}${change.words}`,
        isBetter: goodness(change.direction),
        cellId: change.cell_id,
      });
    }
    for (const failure of points.failures)
      found.set(`failure ${failure.cell_id}`, {
        ...NOTHING_MORE,
        lane: "Failures",
        at: failure.at,
        words: `${told}${failureWords(failure)}`,
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

/** On each side of the moment. */
const POINTS_BESIDE = 60;

/** The points around a moment, with the gaps and the failures among them. */
export function around(points: Points, moment: string): Points {
  const place = points.at.findIndex((time) => Date.parse(time) >= Date.parse(moment));
  const middle = place === -1 ? points.at.length : place;
  const cut = <Value>(column: readonly Value[]) =>
    column.slice(Math.max(0, middle - POINTS_BESIDE), middle + POINTS_BESIDE);
  const at = cut(points.at);
  const [first, last] = [Date.parse(at[0] ?? moment), Date.parse(at.at(-1) ?? moment)];
  // What follows the newest point of all is shown: the axis ends now.
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
    gaps: points.gaps.filter(
      ({ since, until }) => Date.parse(since) < end && (until === null || Date.parse(until) > first),
    ),
    failures: points.failures.filter((failure) => {
      const failed = Date.parse(failure.at);
      return first <= failed && failed <= end;
    }),
  };
}
