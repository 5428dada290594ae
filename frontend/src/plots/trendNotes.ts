/** Notes on a trend: sizes and causes of changes as text, shaded incidents and compared ranges. */

import { t } from "@lingui/core/macro";
import type { Annotation, Shape } from "plotly.js";
import { localTime } from "@/lib/time";
import { formatShift } from "@/lib/units";
import type { Scheme } from "./figure";
import type { Span } from "./timeAxis";

/** A change to be labelled. */
export interface NotedChange {
  readonly at: string;
  readonly before: number;
  readonly after: number;
  /** Text of the event at this change. */
  readonly cause?: string | null | undefined;
  /** The level returns; it needs no size. */
  readonly isRecovery?: boolean | undefined;
}

export interface NotedLine {
  readonly changes: readonly NotedChange[];
  readonly colour: string;
}

export interface NoteOptions {
  /** Visible range as local times. */
  readonly range: readonly [string, string] | undefined;
  readonly isNarrow?: boolean | undefined;
  readonly scheme: Scheme;
}

export const NOTE_ROW_PIXELS = 17;
const MOST_ROWS = 3;
const LETTER_PIXELS = 6.3;
/** Widths of the plot that labels may assume. */
const WIDE_PIXELS = 900;
const NARROW_PIXELS = 270;
const MOST_LETTERS = { wide: 80, narrow: 28 } as const;
/** Changes closer than this share of the axis share a label. */
const SAME_SHARE = 0.012;

interface Label {
  readonly at: string;
  /** Place on the axis, 0 to 1. */
  readonly place: number;
  readonly text: string;
  readonly colour: string | undefined;
}

/** Labels in as few rows as fit; the newest changes come first if not all do. */
export function changeNotes(
  lines: readonly NotedLine[],
  options: NoteOptions,
): { annotations: Partial<Annotation>[]; rows: number } {
  const width = options.isNarrow ? NARROW_PIXELS : WIDE_PIXELS;
  const starts: number[] = [];
  const annotations: Partial<Annotation>[] = [];
  for (const label of labelsOf(lines, options).toReversed()) {
    const wanted = (label.text.length * LETTER_PIXELS) / width;
    const isLeft = label.place + wanted > 1 && label.place > 0.5;
    const share = Math.min(wanted, isLeft ? label.place : 1 - label.place);
    const text = shortened(label.text, Math.floor((share * width) / LETTER_PIXELS));
    const [start, end] = isLeft ? [label.place - share, label.place] : [label.place, label.place + share];
    const row = Array.from({ length: MOST_ROWS }, (_, index) => index).find(
      (index) => end <= (starts[index] ?? 2),
    );
    if (row === undefined) continue;
    starts[row] = start;
    annotations.push(annotationOf({ ...label, text }, row, isLeft, options.scheme));
  }
  return { annotations, rows: starts.length };
}

function annotationOf(
  { at, text, colour }: Label,
  row: number,
  isLeft: boolean,
  scheme: Scheme,
): Partial<Annotation> {
  return {
    x: localTime(at),
    y: 1,
    yref: "y domain",
    xanchor: isLeft ? "right" : "left",
    yanchor: "top",
    xshift: isLeft ? -3 : 3,
    yshift: -row * NOTE_ROW_PIXELS,
    text,
    showarrow: false,
    borderpad: 1,
    bgcolor: scheme === "dark" ? "rgba(36,36,36,0.75)" : "rgba(255,255,255,0.75)",
    font: { size: 12, ...(colour && { color: colour }) },
  };
}

/** Visible changes of all lines in time order. Those at the same time share a label. */
function labelsOf(lines: readonly NotedLine[], { range, isNarrow }: NoteOptions): Label[] {
  if (!range) return [];
  const [from, to] = range.map((time) => Date.parse(time)) as [number, number];
  const noted = lines
    .flatMap(({ changes, colour }) => changes.map((change) => ({ change, colour })))
    .map((one) => ({ ...one, place: (Date.parse(localTime(one.change.at)) - from) / (to - from) }))
    .filter(({ place }) => place >= 0 && place <= 1)
    .sort((a, b) => a.place - b.place);
  const groups: (typeof noted)[] = [];
  for (const one of noted) {
    const last = groups.at(-1);
    if (last?.[0] && one.place - last[0].place < SAME_SHARE) last.push(one);
    else groups.push([one]);
  }
  const most = MOST_LETTERS[isNarrow ? "narrow" : "wide"];
  return groups.flatMap((group) => {
    const [first] = group;
    const text = noteText(group.map(({ change }) => change));
    if (!(first && text)) return [];
    const colour = new Set(group.map((one) => one.colour)).size === 1 ? first.colour : undefined;
    return [{ at: first.change.at, place: first.place, text: shortened(text, most), colour }];
  });
}

/** For example `−18.1 %, OST0007 taken out`, `−18.1 % to −17.0 %`, `recovered`. */
export function noteText(changes: readonly NotedChange[]): string {
  const cause = changes.find((change) => change.cause)?.cause;
  const ratios = changes
    .filter(({ isRecovery, before }) => !isRecovery && before !== 0)
    .map(({ before, after }) => after / before)
    .sort((a, b) => a - b);
  const sizes = [
    ...new Set([ratios[0], ratios.at(-1)].flatMap((ratio) => (ratio ? formatShift(ratio) : []))),
  ];
  const size = sizes.length > 0 ? sizes.join(t` to `) : changes.length > 0 ? t`recovered` : "";
  return [size, cause].filter(Boolean).join(", ");
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
}

/** A drop until its recovery. */
export interface Incident {
  readonly since: string;
  readonly until: string;
}

const RED: Readonly<Record<Scheme, string>> = { light: "#c92a2a", dark: "#ff8787" };

/** Shades incidents, each once, also if several lines share it. */
export function incidentShapes(incidents: readonly Incident[], scheme: Scheme): Partial<Shape>[] {
  const distinct = new Map(incidents.map((incident) => [`${incident.since} ${incident.until}`, incident]));
  return [...distinct.values()].map(({ since, until }) => ({
    ...band(since, until),
    fillcolor: RED[scheme],
    opacity: 0.09,
    line: { width: 0 },
  }));
}

/** Two ranges that are compared; both have both ends. */
export interface RangePair {
  readonly a: Span;
  readonly b: Span;
}

const RANGE_COLOURS: Readonly<Record<keyof RangePair, Readonly<Record<Scheme, string>>>> = {
  a: { light: "#245fb0", dark: "#86b3f2" },
  b: { light: "#a8326e", dark: "#ee8fbd" },
};

/** Shades two ranges and names them A and B. */
export function rangeShapes(ranges: RangePair | undefined, scheme: Scheme): Partial<Shape>[] {
  if (!ranges) return [];
  return (["a", "b"] as const).flatMap((side) => {
    const { from, to } = ranges[side];
    const color = RANGE_COLOURS[side][scheme];
    if (from === undefined || to === undefined) return [];
    const label = {
      text: side.toUpperCase(),
      textposition: "bottom left",
      font: { size: 14, color },
    } as const;
    return [{ ...band(from, to), fillcolor: color, opacity: 0.18, line: { color, width: 1 }, label }];
  });
}

function band(from: string, to: string): Partial<Shape> {
  return {
    type: "rect",
    x0: localTime(from),
    x1: localTime(to),
    y0: 0,
    y1: 1,
    yref: "y domain",
    layer: "below",
  };
}
