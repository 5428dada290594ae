/** The per-second curve of a run: how a counter went while the load ran. */

import type { Data } from "plotly.js";
import type { Scale, Unit } from "@/lib/units";
import { axisScale, axisTitle, baseLayout, type Figure, type Scheme, traceColour } from "./figure";

type Values = readonly (number | null)[];

/** Values of one counter of one order, `stepSeconds` apart, in the counter's base unit; null where none was taken. */
export interface CurveLine {
  readonly name: string;
  readonly stepSeconds: number;
  readonly values: Values;
  /** The smallest and the largest of the values that each mean stands for; null where each stands for itself. */
  readonly range: { readonly low: Values; readonly high: Values } | null;
}

/** Up to so many values are shown as dots too; more would run into each other. */
const MOST_DOTS = 60;

/** The unit that a counter's name ends with: `write_bytes_per_second`, `cpu_user_ratio`. */
export function counterUnit(counter: string): Unit {
  if (counter.endsWith("bytes_per_second")) return "bytes_per_second";
  if (counter.endsWith("_per_second")) return "operations_per_second";
  if (counter.endsWith("_seconds")) return "seconds";
  if (counter.endsWith("bytes")) return "bytes";
  return counter.endsWith("_ratio") ? "ratio" : "count";
}

/** `write_bytes_per_second` is read as “write”, `cpu_user_ratio` as “cpu user”. */
export function counterTitle(counter: string): string {
  const title = counter
    .replace(/_?(bytes_per_second|per_second|bytes|seconds|ratio)$/, "")
    .replaceAll("_", " ");
  return title || counter.replaceAll("_", " ");
}

export function curveFigure(counter: string, lines: readonly CurveLine[], scheme: Scheme): Figure {
  const scale = axisScale(
    counterUnit(counter),
    lines.flatMap((line) => (line.range?.high ?? line.values).map((value) => value ?? 0)),
  );
  const layout = baseLayout(scheme);
  const title = counterTitle(counter);
  return {
    data: lines.flatMap((line, index) => {
      const colour = traceColour(scheme, index);
      return [...bandTraces(line, colour, scale), curveTrace(line, colour, scale)];
    }),
    layout: {
      ...layout,
      showlegend: lines.length > 1,
      xaxis: { ...layout.xaxis, title: { text: "Time since the start (s)" } },
      yaxis: {
        ...layout.yaxis,
        title: { text: axisTitle(title.charAt(0).toUpperCase() + title.slice(1), scale) },
        rangemode: "tozero",
      },
    },
  };
}

function curveTrace(line: CurveLine, colour: string, scale: Scale): Data {
  const isDot = line.values.map((_, index) => line.values.length <= MOST_DOTS || isAlone(line.values, index));
  return {
    type: "scatter",
    mode: isDot.includes(true) ? "lines+markers" : "lines",
    name: line.name,
    x: seconds(line),
    y: scaled(line.values, scale),
    line: { color: colour, width: 1.5 },
    marker: { color: colour, size: isDot.map((shown) => (shown ? 5 : 0)) },
    hovertemplate: `%{y:,.4~r} ${scale.name} after %{x:.0f} s<extra>${line.name}</extra>`,
  };
}

/** A line needs two points: a value between gaps would not be seen. */
function isAlone(values: Values, index: number): boolean {
  return (
    values[index] !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
  );
}

/** The range behind the means, so that a stall shorter than a span is still seen. */
function bandTraces({ range, ...line }: CurveLine, colour: string, scale: Scale): Data[] {
  if (!range) return [];
  const edge = {
    type: "scatter",
    mode: "lines",
    x: seconds(line),
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  } as const;
  return [
    { ...edge, y: scaled(range.low, scale) },
    { ...edge, y: scaled(range.high, scale), fill: "tonexty", fillcolor: `${colour}40` },
  ];
}

function seconds({ values, stepSeconds }: Pick<CurveLine, "values" | "stepSeconds">): number[] {
  return values.map((_, index) => index * stepSeconds);
}

function scaled(values: Values, { divisor }: Scale): (number | null)[] {
  return values.map((value) => (value === null ? null : value / divisor));
}
