/** Requests of series and their points. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { SeriesChange } from "@/api/types";

/** More points than these a trace no SVG chart draws at once. */
const MOST_POINTS = 2000;
const CHANGES_PER_PAGE = 50;

export interface ChangeFilter {
  readonly clusterId?: number | undefined;
  readonly workload?: string | undefined;
  readonly direction?: SeriesChange["direction"] | undefined;
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

export function pointsQuery(seriesId: number) {
  return queryOptions({
    queryKey: ["series", seriesId, "points"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/series/{series_id}/points", {
          params: { path: { series_id: seriesId }, query: { limit: MOST_POINTS } },
          signal,
        }),
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
