/** Requests of series and their points. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem, LARGEST_PAGE } from "@/api/pages";
import type { Points } from "@/api/types";

/** The server looks at so many of the newest points, and chooses so many of them that look as all do. */
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

/** Changes of all series, the newest found first; each analysis of a series may find another one. */
export function changesQuery({ clusterId, workload, direction, withUnconfirmed }: ChangeFilter) {
  const wanted = {
    cluster_id: clusterId ?? null,
    workload: workload ?? null,
    direction: direction ?? null,
    with_unconfirmed: withUnconfirmed ?? false,
  };
  return infiniteQueryOptions({
    queryKey: ["series", "list", "changes", wanted],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: CHANGES_PER_PAGE, cursor: pageParam, ...wanted };
      return answer(api.GET("/api/v1/changes", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

/** Every series of one workload on a cluster; a few hundred at most. */
export function seriesQuery(clusterId: number, workload: string) {
  return queryOptions({
    queryKey: ["series", "list", clusterId, workload],
    queryFn: ({ signal }) =>
      everyItem((page) =>
        answer(
          api.GET("/api/v1/series", {
            params: { query: { ...page, cluster_id: clusterId, workload } },
            signal,
          }),
        ),
      ),
  });
}

/** The workloads that have points on a cluster, that with the longest series first, as far as a page of them tells. */
export function measuredWorkloadsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["series", "list", clusterId, "workloads"],
    queryFn: async ({ signal }) => {
      const query = { limit: LARGEST_PAGE, cursor: null, cluster_id: clusterId };
      const { items } = await answer(api.GET("/api/v1/series", { params: { query }, signal }));
      const longest = items
        .filter((one) => one.point_count > 0)
        .toSorted((a, b) => b.point_count - a.point_count);
      return [...new Set(longest.map(({ workload }) => workload))];
    },
  });
}

/** What is looked at, in UTC; open ends without. */
export interface Span {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

function pointsWanted({ from, to }: Span, points: number) {
  return { limit: POINTS_LOOKED_AT, points, from: from ?? null, to: to ?? null };
}

export function pointsQuery(seriesId: number, span: Span) {
  return queryOptions({
    queryKey: ["series", seriesId, "points", span],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/series/{series_id}/points", {
          params: { path: { series_id: seriesId }, query: pointsWanted(span, POINTS_DRAWN) },
          signal,
        }),
      ),
  });
}

/** The points of many series for small charts, in one answer. */
export function manyPointsQuery(seriesIds: readonly number[], span: Span) {
  return queryOptions({
    queryKey: ["series", "list", "points", seriesIds, span],
    queryFn: async ({ signal }) => {
      const query = { series_id: [...seriesIds], ...pointsWanted(span, POINTS_DRAWN_SMALL) };
      const found = await answer(api.GET("/api/v1/points", { params: { query }, signal }));
      // The texts of the type are the files, which nobody asked for here.
      return found as Points[];
    },
  });
}

/** The request for all points of a span, also as a file. */
export function pointsPath(seriesIds: readonly number[], { from, to }: Span): string {
  const query = new URLSearchParams(seriesIds.map((id) => ["series_id", String(id)]));
  query.set("limit", String(POINTS_LOOKED_AT));
  if (from) query.set("from", from);
  if (to) query.set("to", to);
  return `/api/v1/points?${query}`;
}

/** Series of one metric: of a workload, of a cluster, or of all that may be seen. */
export function seriesOfMetricQuery(
  metric: string,
  wanted: { readonly clusterId?: number; readonly workload?: string },
) {
  const query = { metric, cluster_id: wanted.clusterId ?? null, workload: wanted.workload ?? null };
  return queryOptions({
    queryKey: ["series", "list", "metric", query],
    queryFn: ({ signal }) =>
      everyItem((page) =>
        answer(api.GET("/api/v1/series", { params: { query: { ...page, ...query } }, signal })),
      ),
  });
}

export function analysisQuery(seriesId: number) {
  return queryOptions({
    queryKey: ["series", seriesId, "analysis"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/series/{series_id}/analysis", {
          params: { path: { series_id: seriesId } },
          signal,
        }),
      ),
  });
}
