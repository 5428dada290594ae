/** Layout of the layers diagram: one layer below the other, disks of an array side by side. */

import type { Layer } from "./stack";

export const WIDTH = 340;
const PADDING = 10;
const GAP = 16;
const TITLE_HEIGHT = 24;
export const LINE_HEIGHT = 16;
/** Characters per line at 12 px. */
const LINE_CHARACTERS = 50;
const MOST_LINES = 2;
const MOST_SIDE_BY_SIDE = 6;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly lines: readonly string[];
}

export interface Diagram {
  readonly height: number;
  readonly boxes: readonly Box[];
  /** Connects two boxes. */
  readonly lines: readonly {
    readonly x1: number;
    readonly y1: number;
    readonly x2: number;
    readonly y2: number;
  }[];
}

export function diagramOf(layers: readonly Layer[]): Diagram {
  const rows: Box[][] = [];
  let y = 0;
  for (const layer of layers) {
    const row = rowOf(layer, y);
    rows.push(row);
    y += (row[0]?.height ?? 0) + GAP;
  }
  const lines = rows.flatMap((row, depth) =>
    (rows[depth + 1] ?? []).flatMap((below) => row.map((above) => lineBetween(above, below))),
  );
  return { height: Math.max(0, y - GAP), boxes: rows.flat(), lines };
}

function lineBetween(above: Box, below: Box) {
  return {
    x1: above.x + above.width / 2,
    y1: above.y + above.height,
    x2: below.x + below.width / 2,
    y2: below.y,
  };
}

/** Splits `3 x disk` into three boxes and describes the first. Too many boxes for text stay one. */
function rowOf({ kind, facts }: Layer, y: number): Box[] {
  const [, count, what] = /^(\d+) x (.+)$/.exec(kind) ?? [];
  const sideBySide = Number(count ?? 1);
  const isSplit = what !== undefined && sideBySide > 1 && sideBySide <= MOST_SIDE_BY_SIDE;
  if (!isSplit) {
    const lines = wrapped(facts.join(", "));
    return [{ x: 0, y, width: WIDTH, height: heightOf(lines), title: shortened(kind), lines }];
  }
  const width = (WIDTH - GAP * (sideBySide - 1)) / sideBySide;
  return Array.from({ length: sideBySide }, (_, place) => ({
    x: place * (width + GAP),
    y,
    width,
    height: heightOf([]),
    title: what,
    lines: [],
  }));
}

function heightOf(lines: readonly string[]): number {
  return TITLE_HEIGHT + lines.length * LINE_HEIGHT + PADDING;
}

/** Breaks text at commas and spaces; truncated text ends in dots. */
export function wrapped(text: string): string[] {
  if (text === "") return [];
  const lines: string[] = [];
  let rest = text;
  while (rest.length > LINE_CHARACTERS && lines.length < MOST_LINES - 1) {
    const piece = rest.slice(0, LINE_CHARACTERS);
    const end = Math.max(piece.lastIndexOf(" "), piece.lastIndexOf(",")) + 1 || LINE_CHARACTERS;
    lines.push(piece.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, shortened(rest)];
}

function shortened(text: string): string {
  return text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS - 2)} …` : text;
}
