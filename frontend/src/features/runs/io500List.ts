/** Lists of the IO500 as CSV, read in the browser, and the rank of a result in them. */

import { t } from "@lingui/core/macro";

export const LARGEST_LIST_BYTES = 16 * 1024 * 1024;
const MOST_NAMED = 8;
const SHOWN_CHARACTERS = 40;
const MOST_TITLE_CHARACTERS = 200;
const GIB = 1024 ** 3;
const KILO = 1000;
const VALUES = ["score", "bw", "md"];
/** IO500 columns are named `io500_score`, `io500__score` or `Score`. */
const PREFIX = /^(?:information|io500)_+/;

/** The message says what is wrong and what to choose instead. */
export class ListError extends Error {}

export interface ListedSystem {
  readonly name: string;
  readonly score: number;
  /** In bytes and operations per second; null if the list leaves it out. */
  readonly bandwidth: number | null;
  readonly metadata: number | null;
}

export interface Io500List {
  readonly fileName: string;
  readonly systems: readonly ListedSystem[];
  /** Rows without a score. */
  readonly skipped: number;
}

export type RankedBy = "score" | "bandwidth" | "metadata";

export interface Rank {
  readonly rank: number;
  /** Number of systems with such a value. */
  readonly of: number;
  readonly above: ListedSystem | undefined;
  readonly below: ListedSystem | undefined;
}

interface Line {
  readonly number: number;
  readonly cells: readonly string[];
}

/** Return the systems of a list; throw ListError for a text that is none. */
export function readList(fileName: string, text: string): Io500List {
  if (text.includes("\0")) throw new ListError(t`${fileName} is not a text file. ${remedy()}`);
  const [head, ...lines] = linesOf(text);
  const columns = (head?.cells ?? []).map(columnName);
  const at = (name: string) => columns.indexOf(name);
  const missing = VALUES.filter((name) => at(name) < 0);
  if (missing.length > 0) {
    const found = columns.filter(Boolean).slice(0, MOST_NAMED).map(shortened).join(", ") || t`none`;
    throw new ListError(
      t`${fileName} has no column ${missing.join(", ").toUpperCase()}. Its columns: ${found}. ${remedy()}`,
    );
  }
  const twice = VALUES.find((name) => at(name) !== columns.lastIndexOf(name))?.toUpperCase();
  if (twice) throw new ListError(t`${fileName} has two columns ${twice}. Remove one of them.`);
  const systems = lines.flatMap((line) => {
    const numberIn = (name: string) => numberOf(fileName, line, name, line.cells[at(name)]);
    const score = numberIn("score");
    if (score === null) return [];
    const [bandwidth, metadata] = [numberIn("bw"), numberIn("md")];
    const name = ["system", "institution"].map((column) => line.cells[at(column)]?.trim());
    return [
      {
        name: name.filter(Boolean).join(", ") || t`line ${line.number}`,
        score,
        bandwidth: bandwidth && bandwidth * GIB,
        metadata: metadata && metadata * KILO,
      },
    ];
  });
  if (systems.length === 0) throw new ListError(t`${fileName} has no system with a score. ${remedy()}`);
  return { fileName, systems, skipped: lines.length - systems.length };
}

/** A file without line ends is one long text. */
function shortened(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text;
}

function remedy(): string {
  return t`Choose a list of io500.org as CSV.`;
}

/** `BW (GiB/s)` and `io500_bw` are `bw`. */
function columnName(title: string): string {
  // Bounded, because unclosed brackets would take quadratic time.
  const words = title
    .slice(0, MOST_TITLE_CHARACTERS)
    .replace(/\([^)]*\)/g, "")
    .toLowerCase();
  return words
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")
    .replace(PREFIX, "");
}

/** Null for an empty value and for 0 or less, which some lists have for none. */
function numberOf(fileName: string, { number }: Line, column: string, cell: string | undefined) {
  if (cell === undefined)
    throw new ListError(t`${fileName} line ${number}: the line ends before its ${column.toUpperCase()}.`);
  const text = cell.trim();
  const value = text === "" || text === "-" ? 0 : Number(text.replaceAll(/,(?=\d{3}(?!\d))/g, ""));
  if (!Number.isFinite(value))
    throw new ListError(
      t`${fileName} line ${number}: ${column.toUpperCase()} is “${shortened(text)}”, which is not a number.`,
    );
  return value > 0 ? value : null;
}

/**
 * Split a text by the separator that its first line has most often. Quotes only enclose whole values: in the middle of
 * one they may stand for inches.
 */
function linesOf(text: string): Line[] {
  const [first = ""] = text.split("\n", 1);
  const count = (separator: string) => first.split(separator).length;
  const [separator = ","] = [",", ";", "\t"].sort((a, b) => count(b) - count(a));
  const lines: Line[] = [];
  let cells: string[] = [];
  let [number, cell, isQuoted] = [1, "", false];
  let next = number;
  const end = () => {
    cells.push(cell);
    if (cells.some((one) => one.trim() !== "")) lines.push({ number, cells });
    [cells, cell, number] = [[], "", next];
  };
  const given = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  for (let place = 0; place < given.length; place += 1) {
    const character = given.charAt(place);
    if (character === "\n") next += 1;
    if (isQuoted && character === '"' && given[place + 1] === '"') {
      cell += '"';
      place += 1;
    } else if (character === '"' && (isQuoted || cell === "")) isQuoted = !isQuoted;
    else if (isQuoted) cell += character;
    else if (character === "\n") end();
    else if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character !== " " || cell !== "") cell += character;
  }
  end();
  return lines;
}

/** Return the rank that a value would have, with the systems next to it. */
export function rankIn({ systems }: Io500List, by: RankedBy, value: number): Rank {
  const ranked = systems
    .flatMap((system) => (system[by] === null ? [] : [{ system, value: system[by] }]))
    .sort((a, b) => b.value - a.value);
  const better = ranked.filter((one) => one.value > value).length;
  return {
    rank: better + 1,
    of: ranked.length,
    above: ranked[better - 1]?.system,
    below: ranked[better]?.system,
  };
}
