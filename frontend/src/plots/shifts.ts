/** Ratios of B to A with 95 % intervals, one row per comparison. */

import type { Data, Shape } from "plotly.js";
import { formatShift } from "@/lib/units";
import { baseLayout, type Figure, type Scheme, traceColour } from "./figure";

const ROW_PIXELS = 34;
const AXIS_PIXELS = 90;
const PRACTICAL_PERCENT = 5;

export interface Shift {
  readonly name: string;
  /** B / A; null without a ratio. */
  readonly ratio: number | null;
  /** Null below four runs. */
  readonly low: number | null;
  readonly high: number | null;
  /** Grey: few runs, or a different setup. */
  readonly isWeak: boolean;
  readonly words: string;
}

export function shiftsHeight(shifts: readonly Shift[]): number {
  return AXIS_PIXELS + ROW_PIXELS * shifts.length;
}

export function shiftsFigure(shifts: readonly Shift[], scheme: Scheme, title = "B against A (%)"): Figure {
  const layout = baseLayout(scheme);
  const text = layout.font?.color?.toString() ?? "#343a40";
  const grey = scheme === "dark" ? "#8b9198" : "#868e96";
  return {
    data: [
      trace(
        shifts.filter(({ isWeak }) => !isWeak),
        traceColour(scheme, 0),
      ),
      trace(
        shifts.filter(({ isWeak }) => isWeak),
        grey,
      ),
    ],
    layout: {
      ...layout,
      showlegend: false,
      shapes: [practicalBand(grey), noDifference(text)],
      xaxis: { ...layout.xaxis, title: { text: title }, zeroline: false },
      yaxis: {
        ...layout.yaxis,
        type: "category",
        categoryorder: "array",
        categoryarray: shifts.map(({ name }) => name).toReversed(),
        range: [-0.5, shifts.length - 0.5],
      },
    },
  };
}

/** Band below the practical threshold. */
function practicalBand(fillcolor: string): Partial<Shape> {
  const ends = { x0: -PRACTICAL_PERCENT, x1: PRACTICAL_PERCENT, y0: 0, y1: 1 };
  return {
    type: "rect",
    ...ends,
    yref: "paper",
    line: { width: 0 },
    fillcolor,
    opacity: 0.12,
    layer: "below",
  };
}

function noDifference(color: string): Partial<Shape> {
  return { type: "line", x0: 0, x1: 0, y0: 0, y1: 1, yref: "paper", line: { color, width: 1, dash: "dash" } };
}

function trace(shifts: readonly Shift[], colour: string): Data {
  const drawn = shifts.flatMap(({ ratio, ...shift }) => (ratio === null ? [] : [{ ratio, ...shift }]));
  return {
    type: "scatter",
    mode: "markers",
    x: drawn.map(({ ratio }) => percent(ratio)),
    y: drawn.map(({ name }) => name),
    error_x: {
      type: "data",
      symmetric: false,
      array: drawn.map(({ ratio, high }) => (high === null ? 0 : percent(high) - percent(ratio))),
      arrayminus: drawn.map(({ ratio, low }) => (low === null ? 0 : percent(ratio) - percent(low))),
      color: colour,
      thickness: 1.8,
      width: 5,
    },
    marker: {
      color: colour,
      size: 9,
      symbol: drawn.map(({ low }) => (low === null ? "circle-open" : "circle")),
    },
    text: drawn.map(({ ratio, words }) => `${formatShift(ratio)}<br>${words}`),
    hovertemplate: "%{y}: %{text}<extra></extra>",
  };
}

function percent(ratio: number): number {
  return (ratio - 1) * 100;
}
