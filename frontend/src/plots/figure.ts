/** Common parts of all figures: type, colours and axis titles. */

import { t } from "@lingui/core/macro";
import type { Data, Layout } from "plotly.js";
import { type Scale, scaleFor, type Unit } from "@/lib/units";

export type Scheme = "light" | "dark";

export interface Figure {
  readonly data: Data[];
  readonly layout: Partial<Layout>;
}

/** Colour-blind safe, with a contrast of at least 3 to the background. */
const LINE_COLOURS: Readonly<Record<Scheme, readonly string[]>> = {
  light: ["#0b7289", "#b8450a", "#5b3fa8", "#2b7d38", "#a8326e", "#6b5a00", "#245fb0", "#4a4a4a"],
  dark: ["#45b2c9", "#f0925c", "#b3a1f0", "#7bc98a", "#ee8fbd", "#d6c25a", "#86b3f2", "#c9c9c9"],
};
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon"] as const;

export const MAX_TRACES = SYMBOLS.length;

export function traceColour(scheme: Scheme, index: number): string {
  return LINE_COLOURS[scheme][index % MAX_TRACES] ?? "#4a4a4a";
}

type TraceSymbol = (typeof SYMBOLS)[number];

export function traceSymbol(index: number): TraceSymbol {
  return SYMBOLS[index % MAX_TRACES] ?? "circle";
}

export function openSymbol(index: number): `${TraceSymbol}-open` {
  return `${traceSymbol(index)}-open`;
}

/** For example `Throughput (MB/s)`; counts have no unit. */
export function axisTitle(name: string, scale: Scale): string {
  return scale.name ? `${name} (${scale.name})` : name;
}

/** Characters of a line at a category: eight variants fit in 1200 px. */
const TICK_CHARACTERS = 18;

/** Text at a category in short lines, each part of a variant's name in its own, so that plotly need not turn it. */
export function tickText(name: string): string {
  return name.split(" / ").flatMap(shortLines).join("<br>");
}

function shortLines(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < TICK_CHARACTERS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function axisScale(unit: Unit, values: readonly number[]): Scale {
  return scaleFor(
    unit,
    values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0),
  );
}

/** Room above the plot for a legend of one row: without, plotly makes the room and draws a second time. */
export const LEGEND_ROOM = { t: 50 };

export function baseLayout(scheme: Scheme): Partial<Layout> {
  const text = scheme === "dark" ? "#d5d9dd" : "#343a40";
  const grid = scheme === "dark" ? "#3b3d40" : "#e3e7ea";
  const axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, automargin: true };
  return {
    autosize: true,
    // Not every part of plotly supports “inherit”.
    font: { family: "system-ui, 'DejaVu Sans', sans-serif", size: 13, color: text },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 64, r: 16, t: 16, b: 48 },
    hovermode: "closest",
    xaxis: axis,
    yaxis: axis,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
  };
}

export function runsInWords(count: number): string {
  return count === 1 ? t`1 run` : t`median of ${count} runs`;
}
