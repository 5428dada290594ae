/** Trend of a metric: each point is the median of a configuration's runs, with whiskers from minimum to maximum. */

import { t } from "@lingui/core/macro";
import type { Data, Shape } from "plotly.js";
import { cautionsOf, flagTitles, missingFlags, shownCodes } from "@/components/flagWords";
import { localTime, shownTimeZone } from "@/lib/time";
import { formatShift, type Unit } from "@/lib/units";
import { type LaneMark, laneAxes, lanesTrace, usedLanes } from "./chartEvents";
import {
  axisScale,
  axisTitle,
  baseLayout,
  type Figure,
  openSymbol,
  runsInWords,
  type Scheme,
  traceColour,
  traceSymbol,
} from "./figure";
import { endDay, gapShapes, type Stretch, shownRange, type TimeSpan } from "./timeAxis";

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
  readonly gaps: readonly Stretch[];
}

/** Line or curve of a gradual change from the server, in the unit of the values. */
export interface DriftLine {
  readonly shape: "line" | "curve" | "wave";
  readonly path: readonly { readonly at: string; readonly value: number }[];
}

/** A level change with the server's wording and the levels before and after. */
export interface ChangeMark {
  readonly at: string;
  readonly previousAt: string;
  readonly words: string;
  readonly before: number;
  readonly after: number;
}

export interface TrendOptions extends TimeSpan {
  readonly metricTitle: string;
  readonly unit: Unit;
  readonly fromZero: boolean;
  /** The selected cell; its point is larger. */
  readonly chosenCellId: number | undefined;
  readonly scheme: Scheme;
  readonly marks?: readonly LaneMark[];
}

export function trendFigure(lines: readonly TrendLine[], options: TrendOptions): Figure {
  const scale = axisScale(
    options.unit,
    lines.flatMap((line) => line.high),
  );
  const { marks = [], scheme } = options;
  const layout = baseLayout(scheme);
  const axes = laneAxes(usedLanes(marks), scheme);
  const traces = lines.map((line, index) => trendTrace(line, index, scale.divisor, scale.name, options));
  return {
    data: marks.length > 0 ? [...traces, lanesTrace(marks, scheme)] : traces,
    layout: {
      ...layout,
      ...axes,
      showlegend: lines.length > 1,
      shapes: [
        ...gapShapes(
          lines.map(({ gaps }, index) => ({ gaps, colour: traceColour(scheme, index) })),
          options.end,
          scheme,
        ),
        ...lines.flatMap((line, index) => lineShapes(line, traceColour(scheme, index), scale.divisor)),
      ],
      xaxis: {
        ...layout.xaxis,
        ...shownRange(lines, options),
        ...axes.xaxis,
        type: "date",
        title: { text: timeTitle(options) },
      },
      yaxis: {
        ...layout.yaxis,
        ...axes.yaxis,
        fixedrange: true,
        title: { text: axisTitle(options.metricTitle, scale) },
        rangemode: options.fromZero ? "tozero" : "normal",
      },
    },
  };
}

/** The axis title includes the end date, so that pictures have it, too. */
function timeTitle(options: TrendOptions): string {
  return t`Start (${shownTimeZone()}), until ${endDay(options)}`;
}

/** Shapes of changes: vertical lines, levels, and the expected range. */
function lineShapes(line: TrendLine, color: string, divisor: number): Partial<Shape>[] {
  const [first, last] = [line.at[0], line.at.at(-1)];
  if (first === undefined || last === undefined) return [];
  const starts = [first, ...line.changes.map(({ at }) => at)];
  const levels = starts.flatMap((start, place) => {
    const next = line.changes[place];
    const level = next?.before ?? line.changes[place - 1]?.after;
    return level === undefined ? [] : [levelLine(start, next?.previousAt ?? last, level / divisor, color)];
  });
  const drift = line.drift ? driftLines(line.drift, divisor, color) : [];
  const band = line.band ? [bandOver(starts.at(-1) ?? first, last, line.band, color, divisor)] : [];
  return [...line.changes.map(({ at }) => changeMark(at, color)), ...levels, ...drift, ...band];
}

function levelLine(from: string, until: string, y: number, color: string): Partial<Shape> {
  const [x0, x1] = [localTime(from), localTime(until)];
  return { type: "line", x0, x1, y0: y, y1: y, line: { color, width: 2.5 }, opacity: 0.7 };
}

/** One line for each part of the path; the middle one has the relative size, except for a wave. */
function driftLines({ shape, path }: DriftLine, divisor: number, color: string): Partial<Shape>[] {
  const [start, end] = [path[0]?.value ?? 0, path.at(-1)?.value ?? 0];
  const text = start === 0 || shape === "wave" ? "" : formatShift(end / start);
  const middle = Math.floor((path.length - 2) / 2);
  return path.slice(1).map((to, place) => {
    const from = path[place] ?? to;
    const [x0, x1] = [localTime(from.at), localTime(to.at)];
    const [y0, y1] = [from.value / divisor, to.value / divisor];
    const label = text && place === middle ? { label: { text, font: { size: 12 } } } : {};
    return { type: "line", x0, x1, y0, y1, line: { color, width: 2.5 }, opacity: 0.8, ...label };
  });
}

function bandOver(
  from: string,
  until: string,
  band: { readonly low: number; readonly high: number },
  color: string,
  divisor: number,
): Partial<Shape> {
  const [x0, x1] = [localTime(from), localTime(until)];
  const [y0, y1] = [band.low / divisor, band.high / divisor];
  return {
    type: "rect",
    x0,
    x1,
    y0,
    y1,
    fillcolor: color,
    opacity: 0.12,
    line: { width: 0 },
    layer: "below",
  };
}

function changeMark(at: string, color: string): Partial<Shape> {
  const x = localTime(at);
  return {
    type: "line",
    x0: x,
    x1: x,
    y0: 0,
    y1: 1,
    yref: "paper",
    line: { color, width: 1.5, dash: "dash" },
  };
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
      symbol: line.flags.map((flags, point) =>
        isUnusual(flags, line.usual[point] ?? []) ? openSymbol(index) : traceSymbol(index),
      ),
      size: line.cellId.map((cell) => (cell === options.chosenCellId ? 14 : 8)),
    },
    text: line.n.map((runs, point) => describePoint(runs, line.flags[point] ?? [])),
    hovertemplate: `%{y:,.3~r} ${unitName}, %{text}<br>%{x|%d %b %Y %H:%M}<extra>${line.name}</extra>`,
  };
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
