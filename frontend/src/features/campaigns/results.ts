/** Result tables of a campaign: one per workload and metric, so that each column can be compared. */

import type { Campaign, Cell, CellResult } from "@/api/types";
import { cautionsOf, commonTo, notesOf, rankOf } from "@/components/flagWords";
import { describerAmong, type TitleOf } from "@/lib/options";
import { isOpen } from "./CampaignProgress";

export interface ResultRow {
  readonly cell: Cell;
  readonly result: CellResult;
  /** Options and labels that distinguish the row from others of its table. */
  readonly what: string;
}

export interface ResultGroup {
  readonly key: string;
  readonly workload: string;
  readonly title: string;
  readonly rows: readonly ResultRow[];
}

/** Higher-is-better metrics come first. */
export function groupResults(cells: readonly Cell[], titlesOf: (workload: string) => TitleOf): ResultGroup[] {
  const members = cells.flatMap((cell) => cell.results.map((result) => ({ cell, result })));
  const groups = new Map<string, Member[]>();
  for (const member of members) {
    const group = groups.get(groupKey(member)) ?? [];
    group.push(member);
    groups.set(groupKey(member), group);
  }
  return [...groups].map(([key, group]) => toGroup(key, group, titlesOf)).sort((a, b) => rank(a) - rank(b));
}

type Member = Pick<ResultRow, "cell" | "result">;

function groupKey({ cell, result }: Member): string {
  return `${cell.workload} ${result.metric}`;
}

function rank({ rows }: ResultGroup): number {
  return rows[0]?.result.better === "higher" ? 0 : 1;
}

function toGroup(
  key: string,
  members: readonly Member[],
  titlesOf: (workload: string) => TitleOf,
): ResultGroup {
  const values = members.map(({ cell, result }) => ({ ...cell.options, ...result.labels }));
  const [first] = members;
  const describeMember = describerAmong(values, titlesOf(first?.cell.workload ?? ""));
  const rows = members.map((member, index) => ({ ...member, what: describeMember(values[index] ?? {}) }));
  return {
    key,
    workload: first?.cell.workload ?? "",
    title: first?.result.title ?? "",
    rows: rows.sort((a, b) => a.cell.ordinal - b.cell.ordinal || a.what.localeCompare(b.what)),
  };
}

/** Return the codes of flags on every value of the campaign. */
export function commonFlags(cells: readonly Cell[]): string[] {
  return commonTo(cells.flatMap(({ results }) => results.map(({ flags }) => flags)));
}

export function commonCautions(cells: readonly Cell[]): string[] {
  return cautionsOf(commonFlags(cells));
}

export function commonNotes(cells: readonly Cell[]): string[] {
  return notesOf(commonFlags(cells));
}

/** A flag of rank 4, for which the plan measures too little, and how many configurations have it. */
export interface PlanNote {
  readonly code: string;
  readonly cellCount: number;
  /** Smallest and largest spread of the values concerned; null where no spread is known. */
  readonly spread: readonly [number, number] | null;
}

export function planNotes(cells: readonly Cell[]): PlanNote[] {
  const codes = new Set(cells.flatMap(({ results }) => results.flatMap(({ flags }) => flags)));
  return [...codes]
    .filter((code) => rankOf(code) === 4)
    .map((code) => {
      const having = cells.filter(({ results }) => results.some(({ flags }) => flags.includes(code)));
      const spreads = having.flatMap(({ results }) =>
        results.flatMap(({ flags, variation_ratio: ratio }) =>
          flags.includes(code) && ratio !== null ? [ratio] : [],
        ),
      );
      const spread = spreads.length > 0 ? ([Math.min(...spreads), Math.max(...spreads)] as const) : null;
      return { code, cellCount: having.length, spread };
    });
}

/** With fewer runs a median has no interval. */
export const ENOUGH_RUNS = 4;

/** Return the number of a cell's valid and waiting runs. */
export function runsOf(cell: Cell, campaign: Campaign): number {
  return isOpen(campaign) ? cell.runs.length : Math.max(0, ...cell.results.map(({ n }) => n));
}

export function cellsWithFew(cells: readonly Cell[], campaign: Campaign): Cell[] {
  return cells.filter((cell) => runsOf(cell, campaign) < ENOUGH_RUNS);
}

/** Return the repeats that every cell needs to have enough runs, at least one. */
export function repeatsWanted(cells: readonly Cell[], campaign: Campaign): number {
  const missing = cells.map((cell) => ENOUGH_RUNS - runsOf(cell, campaign));
  return Math.max(1, ...missing);
}
