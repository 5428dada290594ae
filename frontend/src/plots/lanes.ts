/** Bars on lanes over time: what went on where, and for how long. */

import type { Data } from "plotly.js";
import { baseLayout, type Figure, type Scheme, traceColour } from "./figure";

/** How bars of one kind look; the pattern tells kinds apart without their colour. */
export interface LaneKind {
  readonly key: string;
  readonly title: string;
  /** Place among the colours of all figures; null is grey. */
  readonly colour: number | null;
  readonly pattern: "" | "/" | "\\" | "x" | "+" | "." | "-";
  /** Share of the lane's height. */
  readonly height: number;
  /** Only an outline, so that what lies in it is seen. */
  readonly isFrame?: boolean;
}

export interface LaneBar {
  readonly kind: string;
  readonly lane: string;
  /** In the unit of the axis: milliseconds since 1970, or seconds since the start. */
  readonly from: number;
  readonly to: number;
  /** Lines of text shown on hover. */
  readonly says: readonly string[];
}

export interface LaneOptions {
  readonly kinds: readonly LaneKind[];
  /** From above. */
  readonly lanes: readonly string[];
  /** Turns a moment into what plotly reads as a time; without it the axis counts seconds. */
  readonly timeOf?: (milliseconds: number) => string;
  readonly xTitle: string;
  /** The part of the axis that is shown, as `timeOf` writes it; without it all of it. */
  readonly range?: readonly [string, string] | undefined;
  readonly scheme: Scheme;
}

const LANE_PX = 30;
const FRAME_PX = 110;
const LEGEND_ROW_PX = 22;
const GREY = { light: "#6b7280", dark: "#9aa1a9" } as const;
const LONGEST_LANE_NAME = 26;

/** Pixels that so many lanes need below so many rows of the legend, which would else cover them. */
export function lanesHeight(lanes: number, legendRows = 1): number {
  return lanes * LANE_PX + FRAME_PX + (legendRows - 1) * LEGEND_ROW_PX;
}

/** A trace a kind, in the order of the kinds, each with its bars in their order. */
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
        // Lanes as numbers: a category axis would drop a lane in which nothing happened yet.
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

/** The bars of each kind that has a lane, as their traces number them. */
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
        // Without it plotly leaves a patterned bar unfilled.
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
