/** Trend of a metric: each point is the median of a configuration's runs, with whiskers from minimum to maximum. */

import { t } from "@lingui/core/macro";
import type { Data, Shape } from "plotly.js";
import { cautionsOf, flagTitles, missingFlags, shownCodes } from "@/components/flagWords";
import { localTime, shownTimeZone } from "@/lib/time";
import type { Unit } from "@/lib/units";
import { type LaneMark, laneAxes, lanesTrace, usedLanes } from "./chartEvents";
import {
  axisScale,
  axisTitle,
  baseLayout,
  type Figure,
  LEGEND_ROOM,
  openSymbol,
  runsInWords,
  type Scheme,
  traceColour,
  traceSymbol,
} from "./figure";
import { endDay, gapShapes, type Stretch, shownRange, type TimeSpan } from "./timeAxis";
import {
  changeNotes,
  type Incident,
  incidentShapes,
  NOTE_ROW_PIXELS,
  type RangePair,
  rangeShapes,
} from "./trendNotes";
import { type ChangeMark, type DriftLine, lineShapes } from "./trendShapes";

/** Columns of one series in time order; times in UTC, values in `unit`. */
export interface TrendLine {
  readonly name: string;
  readonly at: readonly string[];
  readonly median: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly n: readonly number[];
  readonly cellId: readonly number[];
  /** Flag codes by point. */
  readonly flags: readonly (readonly string[])[];
  /** Codes of usual flags by point. Points that gain or lack a caution are hollow. */
  readonly usual: readonly (readonly string[])[];
  /** Changes in time order, each at the first point after it. */
  readonly changes: readonly ChangeMark[];
  /** Expected range of the next point while a change is suspected. */
  readonly band?: { readonly low: number; readonly high: number } | null;
  /** Line of a gradual change. */
  readonly drift?: DriftLine | null;
  readonly incidents?: readonly Incident[];
  readonly gaps: readonly Stretch[];
}

export interface TrendOptions extends TimeSpan {
  readonly metricTitle: string;
  readonly unit: Unit;
  readonly fromZero: boolean;
  /** The selected cell; its point is larger. */
  readonly chosenCellId: number | undefined;
  readonly scheme: Scheme;
  readonly marks?: readonly LaneMark[];
  readonly ranges?: RangePair | undefined;
  /** A small screen, on which labels are shorter. */
  readonly isNarrow?: boolean | undefined;
}

/** Height of the values' axis, about. */
const PLOT_PIXELS = 300;
const HEADROOM = 1.05;
/** Room for the last date. */
const RIGHT_PX = 24;

export function trendFigure(lines: readonly TrendLine[], options: TrendOptions): Figure {
  const scale = axisScale(
    options.unit,
    lines.flatMap((line) => line.high),
  );
  const { marks = [], scheme } = options;
  const layout = baseLayout(scheme);
  const axes = laneAxes(usedLanes(marks), scheme);
  const range = shownRange(lines, options);
  const coloured = lines.map((line, index) => ({ ...line, colour: traceColour(scheme, index) }));
  const notes = changeNotes(coloured, { range: range.range, isNarrow: options.isNarrow, scheme });
  const traces = lines.map((line, index) => trendTrace(line, index, scale.divisor, scale.name, options));
  return {
    data: marks.length > 0 ? [...traces, lanesTrace(marks, scheme)] : traces,
    layout: {
      ...layout,
      ...axes,
      showlegend: lines.length > 1,
      margin: { ...layout.margin, ...(lines.length > 1 && LEGEND_ROOM), r: RIGHT_PX },
      annotations: notes.annotations,
      shapes: shapesOf(coloured, options, scale.divisor),
      xaxis: {
        ...layout.xaxis,
        ...range,
        ...axes.xaxis,
        type: "date",
        title: { text: timeTitle(options), ...(options.isNarrow && { font: { size: 11 } }) },
      },
      yaxis: {
        ...layout.yaxis,
        ...axes.yaxis,
        fixedrange: true,
        title: { text: axisTitle(options.metricTitle, scale) },
        rangemode: options.fromZero ? "tozero" : "normal",
        ...valueRange(lines, options, scale.divisor, notes.rows),
      },
    },
  };
}

type ColouredLine = TrendLine & { readonly colour: string };

function shapesOf(
  lines: readonly ColouredLine[],
  { ranges, end, scheme }: TrendOptions,
  divisor: number,
): Partial<Shape>[] {
  const incidents = lines.flatMap((line) => line.incidents ?? []);
  return [
    ...rangeShapes(ranges, scheme),
    ...incidentShapes(incidents, scheme),
    ...gapShapes(lines, end, scheme),
    ...lines.flatMap((line) => lineShapes(line, line.colour, divisor)),
  ];
}

/** Leaves room for the labels above the line. */
function valueRange(
  lines: readonly TrendLine[],
  { fromZero }: TrendOptions,
  divisor: number,
  rows: number,
): { range?: [number, number] } {
  const highest = lines.reduce(
    (most, { high }) => high.reduce((a, b) => Math.max(a, b), most),
    Number.NEGATIVE_INFINITY,
  );
  const least = lines.reduce((less, { low }) => low.reduce((a, b) => Math.min(a, b), less), highest);
  if (rows === 0 || !Number.isFinite(highest)) return {};
  const bottom = fromZero ? Math.min(0, least) : least - (highest - least) * (HEADROOM - 1);
  const free = 1 - (rows * NOTE_ROW_PIXELS) / PLOT_PIXELS;
  return { range: [bottom / divisor, (bottom + ((highest - bottom) * HEADROOM) / free) / divisor] };
}

/** The axis title includes the end date, so that pictures have it, too. */
function timeTitle(options: TrendOptions): string {
  return t`Time (${shownTimeZone()}), until ${endDay(options)}`;
}

function trendTrace(
  line: TrendLine,
  index: number,
  divisor: number,
  unitName: string,
  options: TrendOptions,
): Data {
  const colour = traceColour(options.scheme, index);
  return {
    type: "scatter",
    mode: "lines+markers",
    name: line.name,
    x: line.at.map(localTime),
    y: line.median.map((value) => value / divisor),
    error_y: {
      type: "data",
      symmetric: false,
      array: line.high.map((high, point) => (high - (line.median[point] ?? high)) / divisor),
      arrayminus: line.low.map((low, point) => ((line.median[point] ?? low) - low) / divisor),
      color: colour,
      thickness: 1.2,
      width: 3,
    },
    line: { color: colour, width: 1, dash: "dot" },
    marker: {
      color: colour,
      symbol: oneOrEach(
        line.flags.map((flags, point) =>
          isUnusual(flags, line.usual[point] ?? []) ? openSymbol(index) : traceSymbol(index),
        ),
      ),
      size: oneOrEach(line.cellId.map((cell) => (cell === options.chosenCellId ? 14 : 8))),
    },
    text: line.n.map((runs, point) => describePoint(runs, line.flags[point] ?? [])),
    hovertemplate: `%{y:,.3~r} ${unitName}, %{text}<br>%{x|%d %b %Y %H:%M}<extra>${line.name}</extra>`,
  };
}

/** Plotly draws equal points twice as fast if they share one value. */
function oneOrEach<Value>(values: Value[]): Value | Value[] {
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? first : values;
}

/** Gains or lacks a caution, compared with the runs before. */
function isUnusual(flags: readonly string[], usual: readonly string[]): boolean {
  return (
    cautionsOf(flags.filter((code) => !usual.includes(code))).length + missingFlags(flags, usual).length > 0
  );
}

function describePoint(runs: number, flags: readonly string[]): string {
  const count = runsInWords(runs);
  const shown = shownCodes(flags);
  return shown.length > 0 ? `${count}, ${flagTitles(shown)}` : count;
}
