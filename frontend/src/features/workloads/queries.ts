/** The catalogue of workloads that the agents of a cluster announced. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

export function workloadsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["workload", "list", clusterId],
    queryFn: ({ signal }) =>
      everyItem((page) =>
        answer(
          api.GET("/api/v1/workloads", { params: { query: { ...page, cluster_id: clusterId } }, signal }),
        ),
      ),
  });
}
