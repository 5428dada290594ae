/** The results of a campaign in tables: one a workload and metric, so that the numbers of a column compare. */

import type { Campaign, Cell, CellResult } from "@/api/types";
import { cautionsOf, commonTo } from "@/components/flagWords";
import { describerAmong, type TitleOf } from "@/lib/options";
import { isOpen } from "./CampaignProgress";

/** One metric of one cell. */
export interface ResultRow {
  readonly cell: Cell;
  readonly result: CellResult;
  /** What tells the row from the others of its table: options and labels. */
  readonly what: string;
}

export interface ResultGroup {
  readonly key: string;
  readonly workload: string;
  readonly title: string;
  readonly rows: readonly ResultRow[];
}

/** Metrics of which more is better first: they are what most campaigns are run for. */
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

/** Codes of the flags that every number of the campaign carries. */
export function commonFlags(cells: readonly Cell[]): string[] {
  return commonTo(cells.flatMap(({ results }) => results.map(({ flags }) => flags)));
}

/** The cautions that hold for all of them. */
export function commonCautions(cells: readonly Cell[]): string[] {
  return cautionsOf(commonFlags(cells));
}

/** Below so many runs a median has no interval. */
export const ENOUGH_RUNS = 4;

/** The runs of a cell that count, or are still to come. */
export function runsOf(cell: Cell, campaign: Campaign): number {
  return isOpen(campaign) ? cell.runs.length : Math.max(0, ...cell.results.map(({ n }) => n));
}

export function cellsWithFew(cells: readonly Cell[], campaign: Campaign): Cell[] {
  return cells.filter((cell) => runsOf(cell, campaign) < ENOUGH_RUNS);
}

/** So many more that each of them has enough; at least one. */
export function repeatsWanted(cells: readonly Cell[], campaign: Campaign): number {
  const missing = cells.map((cell) => ENOUGH_RUNS - runsOf(cell, campaign));
  return Math.max(1, ...missing);
}
