/** Requests of series and their points. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

/** More points than these a trace no SVG chart draws at once. */
const MOST_POINTS = 2000;

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
