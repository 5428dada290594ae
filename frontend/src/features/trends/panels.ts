/** Groups of series for small multiples. */

import { t } from "@lingui/core/macro";
import type { Points, Series, SeriesStanding } from "@/api/types";

export interface SmallGroup {
  readonly title: string;
  readonly series: readonly Series[];
  /** Number of series not drawn. */
  readonly leftOut: number;
  readonly state?: { readonly words: string; readonly since: string | null; readonly isBad: boolean };
  /** A time to be marked; null for none. */
  readonly markAt?: string | null;
}

export const PANEL_KINDS = ["target", "node", "cluster"] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

const MOST_LINES = 3;
const BAD: readonly SeriesStanding["state"][] = ["slower", "stale", "noisy"];

/** A panel for each target, node or cluster, in the order of the states: worst first, also within a panel. */
export function panelsOf(
  states: readonly SeriesStanding[],
  kind: PanelKind,
  clusterNames: ReadonlyMap<number, string>,
): readonly SmallGroup[] {
  const byTitle = new Map<string, SeriesStanding[]>();
  for (const state of states) {
    const title = titleOf(state, kind, clusterNames);
    byTitle.set(title, [...(byTitle.get(title) ?? []), state]);
  }
  return [...byTitle].flatMap(([title, own]) => {
    const [worst] = own;
    if (!worst) return [];
    return {
      title,
      series: own.slice(0, MOST_LINES).map(({ series }) => series),
      leftOut: Math.max(0, own.length - MOST_LINES),
      state: { words: worst.words, since: sinceOf(worst), isBad: BAD.includes(worst.state) },
      markAt: worst.state === "slower" || worst.state === "faster" ? worst.since : null,
    };
  });
}

/** The words of a stale or recovered series have their day. */
function sinceOf({ state, since }: SeriesStanding): string | null {
  return state === "stale" || state === "in_control" ? null : since;
}

function titleOf(
  { series }: SeriesStanding,
  kind: PanelKind,
  clusterNames: ReadonlyMap<number, string>,
): string {
  const cluster = clusterNames.get(series.cluster_id) ?? t`cluster ${series.cluster_id}`;
  const names = { target: series.target_names, node: series.node_names, cluster: [] }[kind];
  return [cluster, names.join(" + ") || (kind === "target" ? t`no target` : "")].filter(Boolean).join(" · ");
}

/** Common axis range of all charts. */
export function commonRange(found: readonly Points[], fromZero: boolean): readonly [number, number] {
  const all = found.flatMap(({ median }) => median);
  const largest = all.reduce((most, value) => Math.max(most, value), 0);
  const smallest = all.reduce((least, value) => Math.min(least, value), largest);
  return fromZero ? [Math.min(0, smallest), largest] : [smallest, largest];
}

/** The span with a beginning, so that all charts begin at the oldest point of any. */
export function commonStart(found: readonly Points[], from: string | undefined): string | undefined {
  const firsts = found.flatMap(({ at }) => at.slice(0, 1));
  return from ?? firsts.sort((a, b) => Date.parse(a) - Date.parse(b))[0];
}
