/** Shapes of an analysed trend: changes with the levels around them, the line of a drift, the expected range. */

import type { Shape } from "plotly.js";
import { localTime } from "@/lib/time";
import { formatShift } from "@/lib/units";
import type { NotedChange } from "./trendNotes";

/** Line or curve of a gradual change from the server, in the unit of the values. */
export interface DriftLine {
  readonly shape: "line" | "curve" | "wave";
  readonly path: readonly { readonly at: string; readonly value: number }[];
}

/** A level change with the server's wording and the levels before and after. */
export interface ChangeMark extends NotedChange {
  readonly previousAt: string;
  readonly words: string;
}

interface AnalysedLine {
  readonly at: readonly string[];
  readonly changes: readonly ChangeMark[];
  readonly band?: { readonly low: number; readonly high: number } | null;
  readonly drift?: DriftLine | null;
}

/** Shapes of changes: vertical lines, levels, and the expected range. */
export function lineShapes(line: AnalysedLine, color: string, divisor: number): Partial<Shape>[] {
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
