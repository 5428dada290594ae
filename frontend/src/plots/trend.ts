/** The trend of a metric: one dot a point (the median of a cell's runs), whiskers over the range of its runs. */

import type { Data, Shape } from "plotly.js";
import { localTime, timeZone } from "@/lib/time";
import type { Unit } from "@/lib/units";
import {
  axisScale,
  axisTitle,
  baseLayout,
  type Figure,
  openSymbol,
  type Scheme,
  traceColour,
  traceSymbol,
} from "./figure";

const SHORTEST_RANGE_MILLISECONDS = 3_600_000;

/** Columns of one series in time order; times are UTC, values in `unit`. */
export interface TrendLine {
  readonly name: string;
  readonly at: readonly string[];
  readonly median: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly n: readonly number[];
  readonly cellId: readonly number[];
  /** Codes of quality flags of each point; a flagged dot is hollow. */
  readonly flags: readonly (readonly string[])[];
  /** When the first point after each change of level was measured. */
  readonly changedAt: readonly string[];
}

export interface TrendOptions {
  readonly metricTitle: string;
  readonly unit: Unit;
  readonly fromZero: boolean;
  /** The cell whose runs are shown below the chart; its dot is larger. */
  readonly chosenCellId: number | undefined;
  readonly scheme: Scheme;
}

export function trendFigure(lines: readonly TrendLine[], options: TrendOptions): Figure {
  const scale = axisScale(
    options.unit,
    lines.flatMap((line) => line.high),
  );
  const layout = baseLayout(options.scheme);
  return {
    data: lines.map((line, index) => trendTrace(line, index, scale.divisor, scale.name, options)),
    layout: {
      ...layout,
      showlegend: lines.length > 1,
      shapes: lines.flatMap((line, index) =>
        line.changedAt.map((at) => changeMark(at, traceColour(options.scheme, index))),
      ),
      xaxis: {
        ...layout.xaxis,
        ...timeRange(lines),
        type: "date",
        title: { text: `Start of the cell's first run (${timeZone()})` },
      },
      yaxis: {
        ...layout.yaxis,
        title: { text: axisTitle(options.metricTitle, scale) },
        rangemode: options.fromZero ? "tozero" : "normal",
      },
    },
  };
}

/** A line from top to bottom where a series changed. */
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

/** Room around points that lie close together, which plotly would spread over the axis by milliseconds. */
function timeRange(lines: readonly TrendLine[]): { range?: [string, string] } {
  const times = lines.flatMap(({ at }) => at.map((iso) => Date.parse(iso)));
  const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  const last = times.reduce((most, time) => Math.max(most, time), Number.NEGATIVE_INFINITY);
  if (times.length === 0 || last - first > SHORTEST_RANGE_MILLISECONDS) return {};
  const room = SHORTEST_RANGE_MILLISECONDS / 2;
  return { range: [localTime(first - room), localTime(last + room)] };
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
      symbol: line.flags.map((flags) => (flags.length > 0 ? openSymbol(index) : traceSymbol(index))),
      size: line.cellId.map((cell) => (cell === options.chosenCellId ? 14 : 8)),
    },
    text: line.n.map((runs, point) => describePoint(runs, line.flags[point] ?? [])),
    hovertemplate: `%{y:,.4~r} ${unitName}, %{text}<br>%{x|%d %b %Y %H:%M}<extra>${line.name}</extra>`,
  };
}

function describePoint(runs: number, flags: readonly string[]): string {
  const count = runs === 1 ? "1 run" : `median of ${runs} runs`;
  return flags.length > 0 ? `${count}, ${flags.join(", ")}` : count;
}
