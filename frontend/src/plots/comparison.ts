/** Comparison figure: runs as dots over bars of medians, or medians as lines over a numeric axis. */

import { t } from "@lingui/core/macro";
import type { Data, Layout } from "plotly.js";
import { cautionsOf, flagTitle, shownCodes } from "@/components/flagWords";
import { type IdealLine, powersOfTwo } from "@/lib/scaling";
import type { Scale } from "@/lib/units";
import {
  axisTitle,
  baseLayout,
  type Figure,
  LEGEND_ROOM,
  openSymbol,
  runsInWords,
  type Scheme,
  tickText,
  traceColour,
  traceSymbol,
} from "./figure";

/** Runs of one cell; `at` is a category index or a number. */
export interface ComparedRuns {
  readonly at: number;
  readonly median: number;
  readonly values: readonly number[];
  /** Absent or empty if run ids are unknown. */
  readonly runIds?: readonly number[];
  /** Flag codes by run; doubtful dots are hollow. */
  readonly flags: readonly string[];
  /** Words about the median, for its tooltip. */
  readonly note?: string;
}

export interface ComparedGroup {
  readonly name: string;
  readonly runs: readonly ComparedRuns[];
}

/** X axis: categories, numbers, or runs in execution order. */
export interface ComparedAxis {
  readonly kind: "category" | "number" | "order";
  readonly title: string;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** Ideal lines, and the smallest and largest value of all panels. Both axes are logarithmic. */
export interface Scaling {
  readonly ideals: readonly IdealLine[];
  readonly span: readonly [number, number];
}

export interface ComparisonOptions {
  readonly metricTitle: string;
  /** Scale and end of the y axis, common to all panels. */
  readonly scale: Scale;
  readonly highest: number;
  readonly axis: ComparedAxis;
  readonly scheme: Scheme;
  readonly scaling?: Scaling | undefined;
}

const GROUP_WIDTH = 0.8;
const DOT_ROOM = 0.5;
const HEADROOM = 1.06;
const LOG_HEADROOM = 1.15;
const MOST_TICKS = 16;
const LOG_FROM_RATIO = 8;

export function comparisonFigure(groups: readonly ComparedGroup[], options: ComparisonOptions): Figure {
  const layout = baseLayout(options.scheme);
  const { scaling, axis } = options;
  const hasLegend = groups.length > 1 || scaling !== undefined;
  return {
    data: [
      ...groups.flatMap((group, index) => tracesOf(group, index, groups.length, options)),
      ...(scaling?.ideals.map((ideal, index) => idealTrace(ideal, index, options)) ?? []),
    ],
    layout: {
      ...layout,
      barmode: "overlay",
      showlegend: hasLegend,
      margin: { ...layout.margin, ...(hasLegend && LEGEND_ROOM) },
      xaxis: {
        ...layout.xaxis,
        ...(scaling ? doublingAxis(axis) : xAxis(axis)),
        title: { text: axis.title },
      },
      yaxis: {
        ...layout.yaxis,
        ...yAxis(options),
        title: { text: axisTitle(options.metricTitle, options.scale) },
      },
    },
  };
}

function yAxis({ scaling, scale: { divisor }, highest }: ComparisonOptions): Partial<Layout["yaxis"]> {
  if (!scaling) return { range: [0, (highest / divisor) * HEADROOM || 1] };
  const [least, most] = scaling.span;
  return {
    type: "log",
    range: [Math.log10(least / divisor / LOG_HEADROOM), Math.log10((most / divisor) * LOG_HEADROOM)],
    tickformat: ",.3~r",
  };
}

/** A tick at each power of two. */
function doublingAxis({ ticks }: ComparedAxis): Partial<Layout["xaxis"]> {
  const powers = powersOfTwo(ticks.map(({ at }) => at));
  const [least = 1, most = least] = [powers[0], powers.at(-1)];
  return {
    type: "log",
    tickvals: powers,
    ticktext: powers.map((power) => String(power)),
    range: [Math.log10(least / LOG_HEADROOM), Math.log10(most * LOG_HEADROOM)],
  };
}

/** One entry of the legend stands for all. */
function idealTrace({ from, to }: IdealLine, index: number, { scale, scheme }: ComparisonOptions): Data {
  const ends = [from, to];
  return {
    type: "scatter",
    mode: "lines",
    name: t`Ideal, from the smallest`,
    legendgroup: "ideal",
    showlegend: index === 0,
    x: ends.map(({ tasks }) => tasks),
    y: ends.map(({ value }) => value / scale.divisor),
    line: { color: scheme === "dark" ? "#909296" : "#6c757d", width: 1, dash: "dash" },
    hoverinfo: "skip",
  };
}

function xAxis({ kind, ticks }: ComparedAxis): Partial<Layout["xaxis"]> {
  if (kind === "order") return {};
  if (kind === "category") return { ...shownTicks(ticks), range: [-0.5, ticks.length - 0.5] };
  return { ...(ticks.length <= MOST_TICKS && shownTicks(ticks)), type: isLog(ticks) ? "log" : "linear" };
}

function shownTicks(ticks: ComparedAxis["ticks"]): Partial<Layout["xaxis"]> {
  return { tickvals: ticks.map(({ at }) => at), ticktext: ticks.map(({ text }) => tickText(text)) };
}

/** Numbers that double, such as sizes, get a logarithmic axis. */
function isLog(ticks: ComparedAxis["ticks"]): boolean {
  const places = ticks.map(({ at }) => at);
  const least = Math.min(...places);
  return least > 0 && Math.max(...places) / least >= LOG_FROM_RATIO;
}

function tracesOf(group: ComparedGroup, index: number, count: number, options: ComparisonOptions): Data[] {
  const dots = dotsOf(group, index, count, options);
  const common = { name: group.name, legendgroup: group.name };
  if (options.axis.kind === "category") return [{ ...bars(group, index, count, options), ...common }, dots];
  if (options.axis.kind === "order") return [{ ...dots, mode: "lines+markers", showlegend: true }];
  return [{ ...line(group, index, options), ...common }, dots];
}

function bars(group: ComparedGroup, index: number, count: number, options: ComparisonOptions): Data {
  const colour = traceColour(options.scheme, index);
  return {
    type: "bar",
    x: group.runs.map(({ at }) => centre(at, index, count)),
    y: group.runs.map(({ median }) => median / options.scale.divisor),
    width: (GROUP_WIDTH / count) * 0.9,
    marker: { color: `${colour}40`, line: { color: colour, width: 1.5 } },
    text: group.runs.map(({ values }) => runsInWords(values.length)),
    textposition: "none",
    hovertemplate: `%{y:,.3~r} ${options.scale.name}, %{text}<extra>${group.name}</extra>`,
  };
}

function line(group: ComparedGroup, index: number, options: ComparisonOptions): Data {
  const runs = inOrder(group);
  return {
    type: "scatter",
    mode: "lines",
    x: runs.map(({ at }) => at),
    y: runs.map(({ median }) => median / options.scale.divisor),
    line: { color: traceColour(options.scheme, index), width: 1.5 },
    text: runs.map(({ values, note }) => [runsInWords(values.length), note].filter(Boolean).join(", ")),
    hovertemplate: `%{y:,.3~r} ${options.scale.name}, %{text}<extra>${group.name}</extra>`,
  };
}

function dotsOf(
  group: ComparedGroup,
  index: number,
  count: number,
  { axis, scale, scheme }: ComparisonOptions,
): Partial<Data> & { type: "scatter" } {
  const colour = traceColour(scheme, index);
  const width = axis.kind === "category" ? (GROUP_WIDTH / count) * DOT_ROOM : 0;
  const dots = inOrder(group).flatMap((runs) =>
    runs.values.map((value, place) => ({
      x: (axis.kind === "category" ? centre(runs.at, index, count) : runs.at) + aside(place, runs, width),
      y: value / scale.divisor,
      symbol: cautionsOf(runs.flags).length > 0 ? openSymbol(index) : traceSymbol(index),
      text: [
        runs.runIds?.[place] === undefined ? t`one run` : t`run ${runs.runIds[place]}`,
        ...shownCodes(runs.flags).map(flagTitle),
      ].join(", "),
    })),
  );
  return {
    type: "scatter",
    mode: "markers",
    name: group.name,
    legendgroup: group.name,
    showlegend: false,
    x: dots.map(({ x }) => x),
    y: dots.map(({ y }) => y),
    line: { color: colour, width: 1, dash: "dot" },
    marker: { color: colour, size: 7, symbol: dots.map(({ symbol }) => symbol) },
    text: dots.map(({ text }) => text),
    hovertemplate: `%{y:,.3~r} ${scale.name}, %{text}<extra>${group.name}</extra>`,
  };
}

function inOrder({ runs }: ComparedGroup): ComparedRuns[] {
  return [...runs].sort((a, b) => a.at - b.at);
}

function centre(at: number, index: number, count: number): number {
  return at - GROUP_WIDTH / 2 + ((index + 0.5) * GROUP_WIDTH) / count;
}

/** Offsets the runs of a cell, so that equal values stay visible. */
function aside(place: number, { values }: ComparedRuns, width: number): number {
  return values.length > 1 ? (place / (values.length - 1) - 0.5) * width : 0;
}
