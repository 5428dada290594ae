import { queryOptions } from "@tanstack/react-query";
import { get, getEvery } from "@/api/requests";
import type { Span } from "@/plots/timeAxis";

/** Points that the server reads and returns at most. The returned ones keep the shape of the line. */
const POINTS_LOOKED_AT = 10_000;
const POINTS_DRAWN = 1000;
const POINTS_DRAWN_SMALL = 120;
/** Limit of the server for one request of points. */
export const SERIES_AT_ONCE = 64;

/** Series of one workload on a cluster; a few hundred at most. */
export function seriesQuery(clusterId: number, workload: string) {
  return queryOptions({
    queryKey: ["series", "list", clusterId, workload],
    queryFn: ({ signal }) =>
      getEvery("/api/v1/series", { query: { cluster_id: clusterId, workload }, signal }),
  });
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

export function analysisQuery(seriesId: number) {
  return queryOptions({
    queryKey: ["series", seriesId, "analysis"],
    queryFn: ({ signal }) =>
      get("/api/v1/series/{series_id}/analysis", { path: { series_id: seriesId }, signal }),
  });
}

/** Refetched by time too, since a series becomes stale without an update. */
const STATES_MILLISECONDS = 60_000;

export interface MetricChoice {
  readonly clusterId: number | undefined;
  readonly workload: string | undefined;
  readonly metric: string | undefined;
}

/** Series of one metric with their states, worst first. Without a workload or metric, those of the worst series. */
export function metricBoardQuery({ clusterId, workload, metric }: MetricChoice) {
  const query = { cluster_id: clusterId, workload, metric };
  return queryOptions({
    queryKey: ["series", "list", "states", query],
    queryFn: ({ signal }) => get("/api/v1/board/series", { query, signal }),
    placeholderData: (previous) => previous,
    refetchInterval: STATES_MILLISECONDS,
  });
}

/** All points of a range, for its statistics. */
export function rangeQuery(seriesId: number, span: Span) {
  const query = { limit: POINTS_LOOKED_AT, ...span };
  return queryOptions({
    queryKey: ["series", seriesId, "points", "range", span],
    queryFn: ({ signal }) =>
      get("/api/v1/series/{series_id}/points", { path: { series_id: seriesId }, query, signal }),
  });
}
