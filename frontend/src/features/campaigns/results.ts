/** Results of a campaign by workload and metric, and what their quality flags say. */

import type { Campaign, CampaignMeasures, Cell, CellResult } from "@/api/types";
import { commonTo } from "@/components/flagWords";
import { type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";
import { groupBy } from "@/lib/grouping";
import { describerAmong, type TitleOf } from "@/lib/options";
import { isOpen } from "./CampaignProgress";

export interface Measured {
  readonly cell: Cell;
  readonly result: CellResult;
}

export interface ResultRow extends Measured {
  /** Options and labels that distinguish the row from others of its table. */
  readonly what: string;
}

export interface ResultGroup {
  readonly key: string;
  readonly workload: string;
  readonly metric: string;
  readonly title: string;
  readonly rows: readonly ResultRow[];
}

/** Higher-is-better metrics come first. */
export function groupResults(cells: readonly Cell[], titlesOf: (workload: string) => TitleOf): ResultGroup[] {
  const members = cells.flatMap((cell) => cell.results.map((result) => ({ cell, result })));
  return [...groupBy(members, ({ cell, result }) => `${cell.workload} ${result.metric}`)]
    .map(([key, group]) => toGroup(key, group, titlesOf))
    .sort((a, b) => rank(a) - rank(b));
}

function rank({ rows }: ResultGroup): number {
  return rows[0]?.result.better === "higher" ? 0 : 1;
}

function toGroup(
  key: string,
  members: readonly Measured[],
  titlesOf: (workload: string) => TitleOf,
): ResultGroup {
  const values = members.map(({ cell, result }) => ({ ...cell.options, ...result.labels }));
  const [first] = members;
  const describeMember = describerAmong(values, titlesOf(first?.cell.workload ?? ""));
  const rows = members.map((member, index) => ({ ...member, what: describeMember(values[index] ?? {}) }));
  return {
    key,
    workload: first?.cell.workload ?? "",
    metric: first?.result.metric ?? "",
    title: first?.result.title ?? "",
    rows: rows.sort((a, b) => a.cell.ordinal - b.cell.ordinal || a.what.localeCompare(b.what)),
  };
}

const WRITER = "writer";

export interface Results {
  readonly primary: readonly ResultGroup[];
  readonly others: readonly ResultGroup[];
}

/**
 * Separate the values of primary metrics from all others, by the server's rule: single writers count only in a cell
 * without a total. A workload without a primary metric shows all of its metrics.
 */
export function splitPrimary(groups: readonly ResultGroup[], metrics: CampaignMeasures["metrics"]): Results {
  const named = new Set(
    metrics.filter((one) => one.is_primary).map((one) => `${one.workload} ${one.metric}`),
  );
  const ranked = new Set(groups.filter(({ key }) => named.has(key)).map(({ workload }) => workload));
  const isNamed = ({ workload, key }: ResultGroup) => named.has(key) || !ranked.has(workload);
  const rows = groups.filter(isNamed).flatMap((group) => group.rows);
  const whole = new Set(rows.filter((row) => !isOfWriter(row)).map(({ cell }) => cell.id));
  const isPrimary = (row: ResultRow) => !(isOfWriter(row) && whole.has(row.cell.id));
  return {
    primary: withRows(groups.filter(isNamed), isPrimary),
    others: groups.flatMap((group) =>
      isNamed(group) ? withRows([group], (row) => !isPrimary(row)) : [group],
    ),
  };
}

function isOfWriter({ result }: ResultRow): boolean {
  return WRITER in result.labels;
}

function withRows(groups: readonly ResultGroup[], isWanted: (row: ResultRow) => boolean): ResultGroup[] {
  return groups
    .map((group) => ({ ...group, rows: group.rows.filter(isWanted) }))
    .filter(({ rows }) => rows.length > 0);
}

/** One row per value with all parameters, in base units. */
export function resultsTable({ rows, workload, metric }: ResultGroup): ExportTable {
  return recordTable(
    rows.map(({ cell, result }) => ({
      cell: cell.ordinal,
      nodes: plainCell(cell.node_names),
      targets: plainCell(cell.target_names),
      variant: cell.variant || null,
      workload,
      ...spread("option_", cell.options),
      metric,
      ...spread("label_", result.labels),
      value: result.median,
      low: result.low,
      high: result.high,
      n: result.n,
      variation_ratio: result.variation_ratio,
      unit: result.unit,
      flags: result.flags.join(" "),
      run_ids: plainCell(cell.counted_runs),
    })),
  );
}

/** Return the codes of flags on every value of the groups. */
export function commonFlags(groups: readonly ResultGroup[]): string[] {
  return commonTo(resultsOf(groups).map(({ flags }) => flags));
}

export function resultsOf(groups: readonly ResultGroup[]): CellResult[] {
  return groups.flatMap(({ rows }) => rows.map(({ result }) => result));
}

/** Return the source of the campaign's surface: a matrix of IOzone, or a sweep of both sizes; null without one. */
export function surfaceSource({ rows }: ResultGroup, campaignId: number): string | null {
  const sizes = (of: readonly ResultRow[], name: string) =>
    new Set(of.map(({ result }) => result.labels[name])).size;
  for (const [ordinal, own] of groupBy(rows, ({ cell }) => String(cell.ordinal)))
    if (sizes(own, "file_size_bytes") > 1 && sizes(own, "record_size_bytes") > 1)
      return `campaign-${campaignId}.${ordinal}`;
  const swept = (name: string) => new Set(rows.map(({ cell }) => cell.options[name])).size > 1;
  return swept("file_size_bytes") && swept("block_size_bytes") ? `campaign-${campaignId}` : null;
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
