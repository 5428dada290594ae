/** The catalogue of workloads that agents announced. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

/** Those of one cluster, or of all that the user may see. */
export function workloadsQuery(clusterId: number | undefined) {
  return queryOptions({
    queryKey: ["workload", "list", clusterId ?? "all"],
    queryFn: ({ signal }) =>
      everyItem((page) =>
        answer(
          api.GET("/api/v1/workloads", {
            params: { query: { ...page, cluster_id: clusterId ?? null } },
            signal,
          }),
        ),
      ),
  });
}

/** With those that only campaigns know any more, for the names of their options. */
export const namedWorkloadsQuery = queryOptions({
  queryKey: ["workload", "list", "named"],
  queryFn: ({ signal }) =>
    everyItem((page) =>
      answer(api.GET("/api/v1/workloads", { params: { query: { ...page, with_former: true } }, signal })),
    ),
});
