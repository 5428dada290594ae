/** State of the table of runs in the address; pure. */

import { t } from "@lingui/core/macro";
import type { State } from "@/api/states";
import type { ExplorerRun, RunSort } from "@/api/types";
import { areComparable } from "@/components/flagWords";
import { dayBegin, dayEnd } from "@/lib/time";

export const COLUMNS = [
  { id: "state", title: t`State` },
  { id: "value", title: t`Value` },
  { id: "ratio", title: t`Relative to baseline` },
  { id: "course", title: t`Trend` },
  { id: "workload", title: t`Workload` },
  { id: "target", title: t`Targets` },
  { id: "options", title: t`Options` },
  { id: "at", title: t`Time` },
  { id: "duration", title: t`Duration` },
  { id: "flags", title: t`Flags` },
  { id: "metric", title: t`Metric` },
  { id: "node", title: t`Nodes` },
  { id: "campaign", title: t`Campaign` },
  { id: "cluster", title: t`Cluster` },
  { id: "cell", title: t`Configuration, repeat` },
] as const;

export type ColumnId = (typeof COLUMNS)[number]["id"];

const COLUMN_IDS: readonly ColumnId[] = COLUMNS.map(({ id }) => id);

const USUALLY_HIDDEN: ReadonlySet<ColumnId> = new Set(["cluster", "cell"]);
export const USUAL_COLUMNS: readonly ColumnId[] = COLUMN_IDS.filter((id) => !USUALLY_HIDDEN.has(id));

export interface ExplorerView {
  readonly cluster?: number | undefined;
  readonly campaign?: number | undefined;
  readonly node?: number | undefined;
  readonly target?: number | undefined;
  readonly workload?: string | undefined;
  readonly state?: State | undefined;
  readonly validity?: "valid" | "rejected" | undefined;
  readonly flag?: string | undefined;
  /** Days in the display time zone, both included: `2026-11-21`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly text?: string | undefined;
  readonly sort?: RunSort | undefined;
  /** Ids of columns; unknown ids are ignored. */
  readonly columns?: readonly string[] | undefined;
  readonly pins?: readonly number[] | undefined;
  /** One of the pins. */
  readonly baseline?: number | undefined;
  /** The saved view that was opened, even if changed since. */
  readonly view?: number | undefined;
}

/** The number of sides in a comparison. */
export const MOST_PINS = 8;

/** Filters of the request; null means any. */
export type RunChoice = ReturnType<typeof choiceOf>;

export function choiceOf(view: ExplorerView) {
  return {
    cluster_id: view.cluster ?? null,
    campaign_id: view.campaign ?? null,
    node_id: view.node ?? null,
    target_id: view.target ?? null,
    workload: view.workload ?? null,
    state: view.state ?? null,
    validity: view.validity ?? null,
    flag: view.flag ?? null,
    from: dayBegin(view.from),
    to: dayEnd(view.to),
    text: view.text?.trim() || null,
  };
}

/** Values of different workloads are not sorted. */
export function sortOf({ sort = "newest", workload }: ExplorerView): RunSort {
  const isByValue = sort === "highest" || sort === "lowest";
  return isByValue && workload === undefined ? "newest" : sort;
}

export function columnsOf({ columns, baseline }: ExplorerView): ColumnId[] {
  const chosen: ReadonlySet<string> = new Set(columns ?? USUAL_COLUMNS);
  return COLUMN_IDS.filter((id) => chosen.has(id) && (id !== "ratio" || baseline !== undefined));
}

export function hasFilter(view: ExplorerView): boolean {
  return Object.values(choiceOf(view)).some((value) => value !== null);
}

/** Pin or unpin a run. The first pin is the baseline until another is chosen. */
export function togglePin({ pins = [], baseline }: ExplorerView, runId: number): ExplorerView {
  if (!pins.includes(runId)) {
    const more = [...pins, runId].slice(-MOST_PINS);
    return { pins: more, baseline: baseline !== undefined && more.includes(baseline) ? baseline : more[0] };
  }
  const rest = pins.filter((id) => id !== runId);
  return {
    pins: rest.length > 0 ? rest : undefined,
    baseline: baseline === runId ? rest[0] : baseline,
  };
}

/** Return the ratio to the baseline; undefined for different setups. */
export function ratioOf(run: ExplorerRun, baseline: ExplorerRun | undefined): number | undefined {
  if (!baseline || run.likeness === null || run.likeness !== baseline.likeness) return undefined;
  if ([run, baseline].some(({ validity }) => validity === "rejected")) return undefined;
  if (!areComparable(run.headline?.flags ?? [], baseline.headline?.flags ?? [])) return undefined;
  const [value, base] = [run.headline?.value ?? 0, baseline.headline?.value ?? 0];
  return value > 0 && base > 0 ? value / base : undefined;
}

/** Return the cells of the runs without duplicates, the baseline's first. */
export function cellsOf(runs: readonly ExplorerRun[], baseline: number | undefined): number[] {
  const first = runs.filter(({ id }) => id === baseline);
  return [...new Set([...first, ...runs].map(({ cell_id }) => cell_id))];
}

/** Return the visible series by page. */
export function seriesInSight(
  pages: readonly { readonly items: readonly ExplorerRun[] }[],
  first: number,
  last: number,
  pageSize: number,
): number[][] {
  const from = Math.floor(first / pageSize);
  const shown = pages.slice(from, Math.max(from, Math.ceil(last / pageSize)));
  return shown.map(({ items }) => [
    ...new Set(items.flatMap(({ headline }) => (headline ? [headline.series_id] : []))),
  ]);
}
