/** Groups of series for small multiples. */

import { t } from "@lingui/core/macro";
import type { Points, Series } from "@/api/types";
import type { Each } from "./selection";

/** Limit for readability and for a single fast request. */
export const MOST_CHARTS = 16;
const MOST_LINES = 4;

export interface SmallGroup {
  readonly title: string;
  /** Series with most points. */
  readonly series: readonly Series[];
  /** Number of series not shown. */
  readonly leftOut: number;
}

/** Groups by name, series with most points first. `hidden` counts groups that are not shown. */
export function smallGroups(
  all: readonly Series[],
  each: Each,
  clusterNames: ReadonlyMap<number, string>,
): { groups: readonly SmallGroup[]; hidden: number } {
  const byTitle = new Map<string, Series[]>();
  for (const series of all) {
    const title = titleOf(series, each, clusterNames);
    byTitle.set(title, [...(byTitle.get(title) ?? []), series]);
  }
  const groups = [...byTitle]
    .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([title, members]) => {
      const series = members
        .toSorted((a, b) => b.point_count - a.point_count || a.id - b.id)
        .slice(0, MOST_LINES);
      return { title, series, leftOut: members.length - series.length };
    });
  return { groups: groups.slice(0, MOST_CHARTS), hidden: Math.max(0, groups.length - MOST_CHARTS) };
}

function titleOf(series: Series, each: Each, clusterNames: ReadonlyMap<number, string>): string {
  switch (each) {
    case "target":
      return series.target_names.join(" + ") || t`no target`;
    case "cluster":
      return clusterNames.get(series.cluster_id) ?? t`cluster ${series.cluster_id}`;
    case "workload":
      return series.workload;
  }
}

/** Common axis range of all charts. */
export function commonRange(found: readonly Points[], fromZero: boolean): readonly [number, number] {
  const all = (pick: (points: Points) => readonly number[]) => found.flatMap((points) => [...pick(points)]);
  const largest = all(({ median }) => median).reduce((most, value) => Math.max(most, value), 0);
  const smallest = all(({ median }) => median).reduce((least, value) => Math.min(least, value), largest);
  return fromZero ? [Math.min(0, smallest), largest] : [smallest, largest];
}
