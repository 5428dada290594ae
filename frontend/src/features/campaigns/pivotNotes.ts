/** Notes of the values of a pivot table: each text once below the table, as a letter next to the values. */

import { t } from "@lingui/core/macro";
import type { CellResult } from "@/api/types";
import { cautionsOf, missingFlags, notesOf, remarksOf } from "@/components/flagWords";
import type { Pivot } from "./pivot";
import { commonFlags, type ResultGroup } from "./results";

/** Letters by note, the most frequent note first. */
export type NoteLetters = ReadonlyMap<string, string>;

const A = "a".charCodeAt(0);

/** Return the cautions and disturbances of all values, which the answer states. */
export function statedWords(groups: readonly ResultGroup[]): string[] {
  const codes = commonFlags(groups);
  return [...cautionsOf(codes), ...notesOf(codes)];
}

/** Return cautions, usual and missing flags, and disturbances of a value, without those stated for all values. */
export function notesOfValue({ flags, usual_flags: usual }: CellResult, stated: readonly string[]): string[] {
  const remarks = remarksOf(flags, usual, []);
  const own = [...cautionsOf(remarks.named), ...remarks.notes].filter((word) => !stated.includes(word));
  const usually = remarks.usual.filter((word) => !stated.includes(word));
  const missing = cautionsOf(missingFlags(flags, usual));
  return [
    ...own,
    ...(usually.length > 0 ? [t`usual here: ${usually.join(", ")}`] : []),
    ...(missing.length > 0 ? [t`without: ${missing.join(", ")}`] : []),
  ];
}

export function lettersOf({ rows }: Pivot, stated: readonly string[]): NoteLetters {
  const counts = new Map<string, number>();
  for (const { result } of rows.flatMap(({ values }) => values.flat()))
    for (const note of notesOfValue(result, stated)) counts.set(note, (counts.get(note) ?? 0) + 1);
  const frequentFirst = [...counts].sort(([, a], [, b]) => b - a);
  return new Map(frequentFirst.map(([note], place) => [note, String.fromCharCode(A + place)]));
}

/** Return `a: may be cached; b: reducible data`. */
export function legendOf(letters: NoteLetters): string {
  return [...letters].map(([note, letter]) => `${letter}: ${note}`).join("; ");
}
