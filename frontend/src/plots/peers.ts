/** Peers of a group: a row for each member, a dot for each of its campaigns, relative to the group's median. */

import { t } from "@lingui/core/macro";
import type { Data, Layout } from "plotly.js";
import { formatNumber, formatShift } from "@/lib/units";
import { baseLayout, type Figure, type Scheme, traceColour } from "./figure";

export interface PeerRow {
  readonly name: string;
  readonly runs: number;
  readonly campaigns: readonly number[];
  /** Median over the campaigns. The three are ratios to the group's median, minus 1. */
  readonly difference: number;
  readonly z: number | null;
  readonly isOdd: boolean;
}

const ROW_PIXELS = 30;
const FRAME_PIXELS = 80;
const LONGEST_NAME = 22;
/** Keeps noise of a few per cent from filling the axis. */
const LEAST_REACH_PERCENT = 8;
const ROOM = 1.12;

export function peersHeight(rows: readonly PeerRow[]): number {
  return FRAME_PIXELS + ROW_PIXELS * rows.length;
}

export function peersFigure(rows: readonly PeerRow[], scheme: Scheme): Figure {
  const layout = baseLayout(scheme);
  const text = layout.font?.color?.toString() ?? "#343a40";
  const odd = traceColour(scheme, 1);
  return {
    data: [campaignDots(rows, scheme), medians(rows, scheme, odd)],
    layout: {
      ...layout,
      showlegend: false,
      margin: { ...layout.margin, t: 8 },
      shapes: [
        {
          ...{ type: "line", x0: 0, x1: 0, y0: 0, y1: 1, yref: "paper" },
          line: { color: text, width: 1, dash: "dash" },
        },
      ],
      annotations: rows.flatMap((row, place) => (row.isOdd ? [oddNote(row, place, odd)] : [])),
      xaxis: {
        ...layout.xaxis,
        title: { text: t`Difference from the group's median (%)` },
        zeroline: false,
        range: rangeOf(rows),
      },
      yaxis: {
        ...layout.yaxis,
        tickmode: "array",
        tickvals: rows.map((_, place) => place),
        ticktext: rows.map(rowName),
        range: [rows.length - 0.5, -0.5],
        fixedrange: true,
      },
    },
  };
}

/** Room for the note of an outlier, between its dots and the line of the median. */
function rangeOf(rows: readonly PeerRow[]): [number, number] {
  const all = rows.flatMap(({ campaigns, difference }) => [...campaigns, difference].map(percent));
  const reach = Math.max(LEAST_REACH_PERCENT, ...all.map(Math.abs)) * ROOM;
  return [-reach, reach];
}

function rowName({ name, runs }: PeerRow): string {
  const short = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
  return t`${short} (n ${runs})`;
}

function campaignDots(rows: readonly PeerRow[], scheme: Scheme): Data {
  const dots = rows.flatMap((row, place) => row.campaigns.map((ratio) => ({ row, place, ratio })));
  return {
    type: "scatter",
    mode: "markers",
    name: t`Campaign`,
    x: dots.map(({ ratio }) => percent(ratio)),
    y: dots.map(({ place }) => place),
    marker: { color: traceColour(scheme, 0), size: 7, opacity: 0.55 },
    text: dots.map(({ row, ratio }) => t`${row.name}, one campaign: ${formatShift(1 + ratio)}`),
    hovertemplate: "%{text}<extra></extra>",
  };
}

function medians(rows: readonly PeerRow[], scheme: Scheme, odd: string): Data {
  return {
    type: "scatter",
    mode: "markers",
    name: t`Median`,
    x: rows.map(({ difference }) => percent(difference)),
    y: rows.map((_, place) => place),
    marker: {
      color: rows.map(({ isOdd }) => (isOdd ? odd : traceColour(scheme, 0))),
      size: 13,
      symbol: rows.map(({ isOdd }) => (isOdd ? "diamond" : "line-ns-open")),
      line: { width: 2.5 },
    },
    text: rows.map(
      ({ name, difference, campaigns, runs }) =>
        t`${name}: ${formatShift(1 + difference)}, median of ${campaigns.length} campaigns, ${runs} runs`,
    ),
    hovertemplate: "%{text}<extra></extra>",
  };
}

/** Value and robust z of an outlier, on the free side of its row. */
function oddNote(
  { difference, z }: PeerRow,
  place: number,
  color: string,
): NonNullable<Layout["annotations"]>[number] {
  const isLow = difference < 0;
  const score = z === null ? "" : t`, z ${formatNumber(z).replace("-", "−")}`;
  return {
    ...{ x: 0, y: place, showarrow: false, xanchor: isLow ? "left" : "right", xshift: isLow ? 8 : -8 },
    text: `<b>${formatShift(1 + difference)}${score}</b>`,
    font: { color, size: 12 },
  } as NonNullable<Layout["annotations"]>[number];
}

function percent(ratio: number): number {
  return ratio * 100;
}
