/** Default selection of a trend where the address has none. */

import type { MetricBoard, Series } from "@/api/types";
import { MAX_TRACES } from "@/plots/figure";
import { byQuantity, quantityOf } from "./quantity";

export interface TrendView {
  readonly workload?: string | undefined;
  readonly metric?: string | undefined;
  readonly target?: string | undefined;
  /** Stage variant; empty for series outside stages. */
  readonly variant?: string | undefined;
  readonly series?: readonly number[] | undefined;
  /** Cell of the point whose runs are shown. */
  readonly cell?: number | undefined;
  readonly zoomed?: boolean | undefined;
  readonly view?: "table" | undefined;
  /** Time span in UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Highlighted event. */
  readonly event?: number | undefined;
  /** Compared ranges in UTC; undefined: none are compared. */
  readonly a_from?: string | undefined;
  readonly a_to?: string | undefined;
  readonly b_from?: string | undefined;
  readonly b_to?: string | undefined;
}

export interface Selection {
  readonly metrics: readonly string[];
  readonly metric: string;
  readonly targets: readonly string[];
  readonly target: string | undefined;
  readonly variants: readonly string[];
  readonly variant: string | undefined;
  /** Series that match metric, target and variant. */
  readonly candidates: readonly Series[];
  readonly drawn: readonly Series[];
  /** The address selects none of them. */
  readonly isFirstChoice: boolean;
}

/** States in which a series needs no look. */
const WELL: ReadonlySet<string> = new Set(["in_control", "no_baseline"]);

/**
 * Selects the series to draw, up to a readable number: those of the address, else the quantity of the worst series, else
 * that with most points.
 *
 * `order` lists the workload's metrics, primary one first. `board` has the states of the worst metric, or of the one in
 * the address.
 */
export function selectSeries(
  all: readonly Series[],
  order: readonly string[],
  view: TrendView,
  board?: MetricBoard,
): Selection {
  const measured = new Set(all.map(({ metric }) => metric));
  const metrics = [...new Set([...order, ...measured])].filter((name) => measured.has(name));
  const named = all.find(({ id }) => view.series?.includes(id))?.metric;
  const metric =
    [view.metric, named, board?.metric, metrics[0]].find((name) => name && measured.has(name)) ?? "";
  const ofMetric = all.filter((series) => series.metric === metric).sort((a, b) => a.id - b.id);
  const targets = [...new Set(ofMetric.flatMap(({ target_names }) => target_names))].sort();
  const target = targets.find((name) => name === view.target);
  const ofTarget = ofMetric.filter(({ target_names }) => !target || target_names.includes(target));
  const variants = [...new Set(ofTarget.map((series) => series.variant))].sort();
  const variant = variants.find((name) => name === view.variant);
  const candidates = ofTarget.filter((series) => variant === undefined || series.variant === variant);
  const wanted = candidates.filter(({ id }) => view.series?.includes(id));
  const fullest = [...candidates].sort((a, b) => b.point_count - a.point_count);
  const [quantity] = byQuantity(worstFirst(fullest, board), (series) => series, quantityOf);
  const chosen = wanted.length > 0 ? wanted : (quantity?.items ?? []);
  const ids = new Set(chosen.slice(0, MAX_TRACES).map(({ id }) => id));
  const drawn = candidates.filter(({ id }) => ids.has(id));
  const isFirstChoice = wanted.length === 0 && drawn.length > 0;
  return { metrics, metric, targets, target, variants, variant, candidates, drawn, isFirstChoice };
}

function worstFirst(candidates: readonly Series[], board: MetricBoard | undefined): readonly Series[] {
  const bad = (board?.series ?? []).filter(({ state }) => !WELL.has(state)).map(({ series }) => series.id);
  const places = new Map(bad.map((id, place) => [id, place]));
  const placeOf = ({ id }: Series) => places.get(id) ?? places.size;
  return [...candidates].sort((a, b) => placeOf(a) - placeOf(b));
}
