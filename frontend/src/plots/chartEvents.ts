/** Lanes with changes and events below a trend. */

import { t } from "@lingui/core/macro";
import type { Data, Layout } from "plotly.js";
import { localTime } from "@/lib/time";
import { baseLayout, type Scheme, traceColour } from "./figure";

/** Top to bottom. */
export const LANES = ["Changes", "Failures", "Environment", "Releases", "People"] as const;
export type Lane = (typeof LANES)[number];

export interface LaneMark {
  readonly lane: Lane;
  readonly at: string;
  readonly words: string;
  /** True for an improvement; null if unknown. */
  readonly isBetter: boolean | null;
  readonly isChosen: boolean;
  readonly count?: number;
}

const LANE_SHARE = 0.065;
const GAP_SHARE = 0.09;
/** Facts that identify software: `kernel.release`, `os.name`, `tool.version`, `mount.version`. */
const RELEASE_FACT = /(^|; )(os\.|kernel\.|tool\.|[a-z0-9_.]*(version|release))[a-z0-9_.]*: /i;

/** Lane of an event: added by a user, software version, or another detected change. */
export function laneOf(event: { readonly kind: string; readonly text: string }): Lane {
  if (event.kind === "manual") return "People";
  return RELEASE_FACT.test(event.text) ? "Releases" : "Environment";
}

export function usedLanes(marks: readonly LaneMark[]): Lane[] {
  return LANES.filter((lane) => marks.some((mark) => mark.lane === lane));
}

const SYMBOLS = {
  Failures: "line-ns-open",
  Environment: "diamond",
  Releases: "square",
  People: "circle",
} as const;
const RED: Readonly<Record<Scheme, string>> = { light: "#c92a2a", dark: "#ff8787" };

export function lanesTrace(marks: readonly LaneMark[], scheme: Scheme): Data {
  const ink = baseLayout(scheme).font?.color?.toString() ?? "#343a40";
  return {
    type: "scatter",
    mode: "markers+text",
    name: t`Events`,
    showlegend: false,
    x: marks.map(({ at }) => localTime(at)),
    y: marks.map(({ lane }) => lane),
    yaxis: "y2",
    cliponaxis: false,
    marker: {
      color: marks.map((mark) => colourOf(mark, ink, scheme)),
      size: marks.map(({ isChosen }) => (isChosen ? 14 : 10)),
      symbol: marks.map(symbolOf),
      line: { width: marks.map(({ lane }) => (lane === "Failures" ? 2.5 : 1)) },
    },
    text: marks.map(({ count = 1 }) => (count > 1 ? String(count) : "")),
    textposition: "middle right",
    textfont: { size: 10, color: RED[scheme] },
    hovertext: marks.map(({ words }) => wrapped(words)),
    hovertemplate: "%{hovertext}<br>%{x|%d %b %Y %H:%M}<extra>%{y}</extra>",
  };
}

function colourOf({ lane, isChosen }: LaneMark, ink: string, scheme: Scheme): string {
  if (isChosen) return traceColour(scheme, 1);
  return lane === "Failures" ? RED[scheme] : ink;
}

function symbolOf({ lane, isBetter }: LaneMark) {
  if (lane !== "Changes") return SYMBOLS[lane];
  if (isBetter === null) return "diamond-open" as const;
  return isBetter ? ("triangle-up" as const) : ("triangle-down-open" as const);
}

export function laneAxes(lanes: readonly Lane[], scheme: Scheme): Partial<Layout> {
  if (lanes.length === 0) return {};
  const axis = baseLayout(scheme).yaxis;
  const share = lanes.length * LANE_SHARE;
  return {
    xaxis: { anchor: "y2" },
    yaxis: { domain: [share + GAP_SHARE / 2, 1] },
    yaxis2: {
      ...axis,
      type: "category",
      categoryorder: "array",
      categoryarray: lanes.toReversed(),
      range: [-0.5, lanes.length - 0.5],
      domain: [0, share],
      fixedrange: true,
      anchor: "x",
      tickfont: { size: 11 },
      zeroline: false,
    },
  };
}

const LINE_LETTERS = 60;
const MOST_LETTERS = 240;

/** Wraps text, since plotly does not wrap hover boxes. */
function wrapped(words: string): string {
  const shown = words.length > MOST_LETTERS ? `${words.slice(0, MOST_LETTERS)} …` : words;
  const lines: string[] = [];
  for (const word of shown.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < LINE_LETTERS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("<br>");
}
