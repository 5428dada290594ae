/** Bars on lanes over time. */

import type { Data } from "plotly.js";
import { baseLayout, type Figure, type Scheme, traceColour } from "./figure";

/** Look of a kind of bars. Patterns distinguish kinds without colour. */
export interface LaneKind {
  readonly key: string;
  readonly title: string;
  /** Index of the common colours; null is grey. */
  readonly colour: number | null;
  readonly pattern: "" | "/" | "\\" | "x" | "+" | "." | "-";
  /** Share of the lane's height. */
  readonly height: number;
  /** Outline only, so that bars inside it stay visible. */
  readonly isFrame?: boolean;
}

export interface LaneBar {
  readonly kind: string;
  readonly lane: string;
  /** Milliseconds since 1970, or seconds since the start. */
  readonly from: number;
  readonly to: number;
  /** Hover text, one item per line. */
  readonly says: readonly string[];
}

export interface LaneOptions {
  readonly kinds: readonly LaneKind[];
  /** Top to bottom. */
  readonly lanes: readonly string[];
  /** Converts a time for plotly; without it the axis shows seconds. */
  readonly timeOf?: (milliseconds: number) => string;
  readonly xTitle: string;
  /** Visible range, as `timeOf` returns it; default all. */
  readonly range?: readonly [string, string] | undefined;
  readonly scheme: Scheme;
}

const LANE_PX = 30;
const FRAME_PX = 110;
const LEGEND_ROW_PX = 22;
const GREY = { light: "#6b7280", dark: "#9aa1a9" } as const;
const LONGEST_LANE_NAME = 26;

/** Height in pixels including the legend, which would otherwise cover the lanes. */
export function lanesHeight(lanes: number, legendRows = 1): number {
  return lanes * LANE_PX + FRAME_PX + (legendRows - 1) * LEGEND_ROW_PX;
}

/** One trace per kind. */
export function lanesFigure(bars: readonly LaneBar[], options: LaneOptions): Figure {
  const { kinds, lanes, timeOf, xTitle, range, scheme } = options;
  const layout = baseLayout(scheme);
  const drawn = barsByKind(bars, options);
  return {
    data: kinds
      .map((kind) => laneTrace(kind, drawn.get(kind.key) ?? [], options))
      .filter((_, index) => (drawn.get(kinds[index]?.key ?? "") ?? []).length > 0),
    layout: {
      ...layout,
      barmode: "overlay",
      dragmode: "zoom",
      margin: { ...layout.margin, t: 44 },
      xaxis: {
        ...layout.xaxis,
        title: { text: xTitle },
        ...(timeOf ? { type: "date" } : { rangemode: "tozero" }),
        ...(range && { range: [...range] }),
      },
      yaxis: {
        ...layout.yaxis,
        // Numeric lanes, since a category axis drops empty lanes.
        tickmode: "array",
        tickvals: lanes.map((_, index) => index),
        ticktext: lanes.map(shortened),
        range: [lanes.length - 0.5, -0.5],
        showgrid: false,
        zeroline: false,
        fixedrange: true,
      },
    },
  };
}

export function barsByKind(
  bars: readonly LaneBar[],
  { kinds, lanes }: Pick<LaneOptions, "kinds" | "lanes">,
): Map<string, LaneBar[]> {
  const known = new Set(lanes);
  const byKind = new Map<string, LaneBar[]>(kinds.map(({ key }) => [key, []]));
  for (const bar of bars) if (known.has(bar.lane)) byKind.get(bar.kind)?.push(bar);
  return byKind;
}

function laneTrace(kind: LaneKind, bars: readonly LaneBar[], options: LaneOptions): Data {
  const { lanes, timeOf, scheme } = options;
  const places = new Map(lanes.map((lane, index) => [lane, index]));
  const colour = kind.colour === null ? GREY[scheme] : traceColour(scheme, kind.colour);
  return {
    type: "bar",
    orientation: "h",
    name: kind.title,
    base: bars.map(({ from }) => (timeOf ? timeOf(from) : from)),
    x: bars.map(({ from, to }) => Math.max(0, to - from)),
    y: bars.map(({ lane }) => places.get(lane) ?? 0),
    width: kind.height,
    text: bars.map(({ says }) => says.join("<br>")),
    textposition: "none",
    hovertemplate: `%{text}<extra>${kind.title}</extra>`,
    marker: {
      color: kind.isFrame ? `${colour}22` : colour,
      line: { color: colour, width: kind.isFrame ? 1.5 : 0.5 },
      pattern: {
        shape: kind.pattern,
        // Plotly leaves patterned bars unfilled without it.
        bgcolor: kind.isFrame ? `${colour}22` : colour,
        fgcolor: scheme === "dark" ? "#1a1b1e" : "#ffffff",
        size: 6,
        solidity: 0.25,
      },
    },
  } as Data;
}

function shortened(name: string): string {
  return name.length > LONGEST_LANE_NAME ? `${name.slice(0, LONGEST_LANE_NAME - 1)}…` : name;
}
