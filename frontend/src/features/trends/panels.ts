/** Groups of series for small multiples, each of one quantity, and their scales. */

import { t } from "@lingui/core/macro";
import type { Points, Series, SeriesStanding } from "@/api/types";
import { byQuantity, quantityOf } from "./quantity";

export interface SmallGroup {
  readonly title: string;
  readonly series: readonly Series[];
  /** Number of series not drawn. */
  readonly leftOut: number;
  readonly state: { readonly words: string; readonly since: string | null; readonly isBad: boolean };
  /** A time to be marked; null for none. */
  readonly markAt: string | null;
}

export const PANEL_KINDS = ["target", "node", "cluster"] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];

const MOST_LINES = 3;
const BAD: readonly SeriesStanding["state"][] = ["slower", "stale", "noisy"];

/** A panel for each quantity of a target, node or cluster, worst first like the states, also within a panel. */
export function panelsOf(
  states: readonly SeriesStanding[],
  kind: PanelKind,
  clusterNames: ReadonlyMap<number, string>,
): readonly SmallGroup[] {
  const groups = byQuantity(
    states,
    ({ series }) => series,
    (series) => titleOf(series, kind, clusterNames),
  );
  return groups.flatMap(({ title, items }) => {
    const [worst] = items;
    if (!worst) return [];
    return {
      title,
      series: items.slice(0, MOST_LINES).map(({ series }) => series),
      leftOut: Math.max(0, items.length - MOST_LINES),
      state: { words: worst.words, since: sinceOf(worst), isBad: BAD.includes(worst.state) },
      markAt: worst.state === "slower" || worst.state === "faster" ? worst.since : null,
    };
  });
}

/** The words of a stale or recovered series have their day. */
function sinceOf({ state, since }: SeriesStanding): string | null {
  return state === "stale" || state === "in_control" ? null : since;
}

function titleOf(series: Series, kind: PanelKind, clusterNames: ReadonlyMap<number, string>): string {
  const cluster = clusterNames.get(series.cluster_id) ?? t`cluster ${series.cluster_id}`;
  const names = { target: series.target_names, node: series.node_names, cluster: [] }[kind];
  const place = names.join(" + ") || (kind === "target" ? t`no target` : "");
  return [cluster, place, quantityOf(series)].filter(Boolean).join(" · ");
}

/** Axis range of a panel, in the base unit. */
export interface PanelScale {
  readonly range: readonly [number, number];
  readonly isOwn: boolean;
  /** The axis does not start at zero. */
  readonly isCut: boolean;
}

/** A line that fills less of the height than this factor says is too flat to read. */
const SAME_SCALE = 5;

/**
 * The scale of each panel. As many trends as possible share one that starts at zero, if all are high enough on it.
 *
 * Without `fromZero`, each has its own.
 */
export function panelScales(
  panels: readonly (readonly Points[])[],
  fromZero: boolean,
): readonly PanelScale[] {
  const extents = panels.map(extentOf);
  // Panels with one point are no trends yet.
  const trends = panels.filter((panel) => panel.some(({ median }) => median.length > 1)).map(extentOf);
  const shared = fromZero ? sharedTop((trends.length > 0 ? trends : extents).map(([, most]) => most)) : 0;
  return extents.map(([least, most]) => {
    if (!fromZero) return { range: [least, most], isOwn: true, isCut: least > 0 };
    const isOwn = !isUnder(shared, most);
    return { range: [Math.min(0, least), isOwn ? most : shared], isOwn, isCut: false };
  });
}

function extentOf(panel: readonly Points[]): readonly [number, number] {
  const all = panel.flatMap(({ median }) => median);
  const most = all.reduce((largest, value) => Math.max(largest, value), 0);
  return [all.reduce((smallest, value) => Math.min(smallest, value), most), most];
}

/** Panels without points fit every scale. */
function isUnder(top: number, most: number): boolean {
  return most === 0 || (most <= top && most > top / SAME_SCALE);
}

/** The largest value under which most panels are high enough; 0 if they have nothing to share. */
function sharedTop(tops: readonly number[]): number {
  const drawn = tops.filter((top) => top > 0).sort((a, b) => b - a);
  const fitting = (top: number) => drawn.filter((most) => isUnder(top, most)).length;
  const best = drawn.reduce((chosen, top) => (fitting(top) > fitting(chosen) ? top : chosen), drawn[0] ?? 0);
  return drawn.length > 1 && fitting(best) === 1 ? 0 : best;
}

/** The span with a beginning, so that all charts begin at the oldest point of any. */
export function commonStart(found: readonly Points[], from: string | undefined): string | undefined {
  const firsts = found.flatMap(({ at }) => at.slice(0, 1));
  return from ?? firsts.sort((a, b) => Date.parse(a) - Date.parse(b))[0];
}
