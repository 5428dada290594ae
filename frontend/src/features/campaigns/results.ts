/** The results of a campaign in tables: one a workload and metric, so that the numbers of a column compare. */

import type { Cell, CellResult } from "@/api/types";
import { describeValues, varyingNames } from "@/lib/options";
import { type Scale, scaleFor } from "@/lib/units";

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
  readonly scale: Scale;
  readonly rows: readonly ResultRow[];
}

/** Metrics of which more is better first: they are what most campaigns are run for. */
export function groupResults(cells: readonly Cell[]): ResultGroup[] {
  const members = cells.flatMap((cell) => cell.results.map((result) => ({ cell, result })));
  const keys = [...new Set(members.map(groupKey))];
  return keys
    .map((key) =>
      toGroup(
        key,
        members.filter((member) => groupKey(member) === key),
      ),
    )
    .sort((a, b) => rank(a) - rank(b));
}

type Member = Pick<ResultRow, "cell" | "result">;

function groupKey({ cell, result }: Member): string {
  return `${cell.workload} ${result.metric}`;
}

function rank({ rows }: ResultGroup): number {
  return rows[0]?.result.better === "higher" ? 0 : 1;
}

function toGroup(key: string, members: readonly Member[]): ResultGroup {
  const values = members.map(({ cell, result }) => ({ ...cell.options, ...result.labels }));
  const varying = varyingNames(values);
  const rows = members.map((member, index) => ({
    ...member,
    what: describeValues(values[index] ?? {}, varying),
  }));
  const [first] = members;
  const largest = members.reduce((most, { result }) => Math.max(most, Math.abs(result.high)), 0);
  return {
    key,
    workload: first?.cell.workload ?? "",
    title: first?.result.title ?? "",
    scale: scaleFor(first?.result.unit ?? "count", largest),
    rows: rows.sort((a, b) => a.cell.ordinal - b.cell.ordinal || a.what.localeCompare(b.what)),
  };
}
