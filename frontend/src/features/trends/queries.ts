import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, getItems, itemsOf, LARGEST_PAGE, pages } from "@/api/requests";

/** Points that the server reads and returns at most. The returned ones keep the shape of the line. */
const POINTS_LOOKED_AT = 10_000;
const POINTS_DRAWN = 1000;
const POINTS_DRAWN_SMALL = 120;
const CHANGES_PER_PAGE = 50;

export interface ChangeFilter {
  readonly clusterId?: number | undefined;
  readonly workload?: string | undefined;
  readonly direction?: "better" | "worse" | undefined;
  readonly withUnconfirmed?: boolean | undefined;
}

/** Changes of all series, most recently found first. */
export function changesQuery({ clusterId, workload, direction, withUnconfirmed = false }: ChangeFilter) {
  const query = { cluster_id: clusterId, workload, direction, with_unconfirmed: withUnconfirmed };
  return infiniteQueryOptions({
    queryKey: ["series", "list", "changes", query],
    ...pages("/api/v1/changes", CHANGES_PER_PAGE, { query }),
    select: itemsOf,
  });
}

/** Series of one workload on a cluster; a few hundred at most. */
export function seriesQuery(clusterId: number, workload: string) {
  return queryOptions({
    queryKey: ["series", "list", clusterId, workload],
    queryFn: ({ signal }) =>
      getEvery("/api/v1/series", { query: { cluster_id: clusterId, workload }, signal }),
  });
}

/** Workloads with points on a cluster, longest series first. Reads one page of series. */
export function measuredWorkloadsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["series", "list", clusterId, "workloads"],
    queryFn: async ({ signal }) => {
      const measured = (
        await getItems("/api/v1/series", { query: { limit: LARGEST_PAGE, cluster_id: clusterId }, signal })
      ).filter((one) => one.point_count > 0);
      const longest = measured.sort((a, b) => b.point_count - a.point_count);
      return [...new Set(longest.map(({ workload }) => workload))];
    },
  });
}

/** Time span in UTC; undefined ends are open. */
export interface Span {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function pointsQuery(seriesId: number, span: Span) {
  const query = { limit: POINTS_LOOKED_AT, points: POINTS_DRAWN, ...span };
  return queryOptions({
    queryKey: ["series", seriesId, "points", span],
    queryFn: ({ signal }) =>
      get("/api/v1/series/{series_id}/points", { path: { series_id: seriesId }, query, signal }),
  });
}

export function manyPointsQuery(seriesIds: readonly number[], span: Span) {
  const query = { series_id: seriesIds, limit: POINTS_LOOKED_AT, points: POINTS_DRAWN_SMALL, ...span };
  return queryOptions({
    queryKey: ["series", "list", "points", seriesIds, span],
    queryFn: ({ signal }) => get("/api/v1/points", { query, signal }),
  });
}

/** Path of all points of a span, also for files. */
export function pointsPath(seriesIds: readonly number[], { from, to }: Span): string {
  const query = new URLSearchParams(seriesIds.map((id) => ["series_id", String(id)]));
  query.set("limit", String(POINTS_LOOKED_AT));
  if (from) query.set("from", from);
  if (to) query.set("to", to);
  return `/api/v1/points?${query}`;
}

/** Series of one metric, optionally of one workload or cluster. */
export function seriesOfMetricQuery(
  metric: string,
  { clusterId, workload }: { readonly clusterId?: number; readonly workload?: string },
) {
  const query = { metric, cluster_id: clusterId, workload };
  return queryOptions({
    queryKey: ["series", "list", "metric", query],
    queryFn: ({ signal }) => getEvery("/api/v1/series", { query, signal }),
  });
}

export function analysisQuery(seriesId: number) {
  return queryOptions({
    queryKey: ["series", seriesId, "analysis"],
    queryFn: ({ signal }) =>
      get("/api/v1/series/{series_id}/analysis", { path: { series_id: seriesId }, signal }),
  });
}
