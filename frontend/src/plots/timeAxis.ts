/** Time axis of a trend. It ends now and marks missing data. */

import { t } from "@lingui/core/macro";
import type { Shape } from "plotly.js";
import { formatDay, localTime } from "@/lib/time";
import type { Scheme } from "./figure";

const SHORTEST_RANGE_MILLISECONDS = 3_600_000;
/** Margin on both sides as a share of the range, so that no mark is cut. */
const ROOM_SHARE = 0.02;
const STRIP_SHARE = 0.03;
const GREY: Readonly<Record<Scheme, string>> = { light: "#868e96", dark: "#909296" };

/** A gap in UTC; `until` is null if it lasts until now. */
export interface Stretch {
  readonly since: string;
  readonly until: string | null;
}

/** A span in UTC; undefined ends are open. */
export interface Span {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface TimeSpan {
  /** Selected span; default everything up to `end`. */
  readonly span?: Span | undefined;
  /** End of the axis in milliseconds. */
  readonly end: number;
}

export function shownRange(
  lines: readonly { readonly at: readonly string[] }[],
  { span, end }: TimeSpan,
): { range?: [string, string] } {
  const all = timeRange(
    lines.flatMap(({ at }) => at),
    end,
  ).range;
  const [from, to] = [span?.from ? localTime(span.from) : all?.[0], span?.to ? localTime(span.to) : all?.[1]];
  return from === undefined ? {} : { range: [from, to ?? localTime(end)] };
}

/** Last day of the axis, at most today. */
export function endDay({ span, end }: TimeSpan): string {
  return formatDay(new Date(span?.to ? Math.min(Date.parse(span.to), end) : end).toISOString());
}

/** From the first time to `end`, with margins. */
export function timeRange(times: readonly string[], end: number): { range?: [string, string] } {
  const first = times.reduce((least, at) => Math.min(least, Date.parse(at)), Number.POSITIVE_INFINITY);
  if (times.length === 0) return {};
  const last = times.reduce((most, at) => Math.max(most, Date.parse(at)), end);
  const isShort = last - first <= SHORTEST_RANGE_MILLISECONDS;
  const room = isShort ? SHORTEST_RANGE_MILLISECONDS / 2 : (last - first) * ROOM_SHARE;
  return { range: [localTime(first - room), localTime(last + room)] };
}

/** For example `no data 25 Oct 2026 – today`. */
export function gapWords({ since, until }: Stretch): string {
  return t`no data ${formatDay(since)} – ${until === null ? t`today` : formatDay(until)}`;
}

/** Time ranges in which no line has data. */
export function commonGaps(lines: readonly (readonly Stretch[])[], end: number): readonly Stretch[] {
  const [first = [], ...others] = lines;
  return others.reduce<readonly Stretch[]>(
    (common, gaps) => common.flatMap((one) => gaps.flatMap((other) => overlap(one, other, end))),
    first,
  );
}

function overlap(one: Stretch, other: Stretch, end: number): Stretch[] {
  const since = later(one.since, other.since);
  const until =
    endOf(one, end) <= endOf(other, end) ? (one.until ?? other.until) : (other.until ?? one.until);
  return Date.parse(since) < (until === null ? end : Date.parse(until)) ? [{ since, until }] : [];
}

function later(one: string, other: string): string {
  return Date.parse(one) >= Date.parse(other) ? one : other;
}

function endOf({ until }: Stretch, end: number): number {
  return until === null ? end : Date.parse(until);
}

interface GapLine {
  readonly gaps: readonly Stretch[];
  readonly colour: string;
}

/** Shades and labels ranges in which no line has data. Gaps of single lines get a strip at the bottom. */
export function gapShapes(lines: readonly GapLine[], end: number, scheme: Scheme): Partial<Shape>[] {
  const common = commonGaps(
    lines.map(({ gaps }) => gaps),
    end,
  );
  const strips = lines.length < 2 ? [] : lines.flatMap((line, place) => stripsOf(line, place, end));
  return [...common.map((gap) => shaded(gap, end, scheme)), ...strips];
}

function shaded(gap: Stretch, end: number, scheme: Scheme): Partial<Shape> {
  return {
    ...stretch(gap, end),
    y0: 0,
    y1: 1,
    fillcolor: GREY[scheme],
    opacity: 0.22,
    line: { color: GREY[scheme], width: 1, dash: "dot" },
    label: { text: gapWords(gap), textposition: "top left", font: { size: 11 } },
  };
}

function stripsOf({ gaps, colour }: GapLine, place: number, end: number): Partial<Shape>[] {
  return gaps.map((gap) => ({
    ...stretch(gap, end),
    y0: place * STRIP_SHARE,
    y1: (place + 0.7) * STRIP_SHARE,
    fillcolor: colour,
    opacity: 0.45,
    line: { width: 0 },
  }));
}

function stretch(gap: Stretch, end: number): Partial<Shape> {
  return {
    type: "rect",
    x0: localTime(gap.since),
    x1: localTime(endOf(gap, end)),
    yref: "y domain",
    layer: "below",
  };
}
