/** Requests of peers: equals beside each other. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** New points of any series may show another odd one. */
export function peersQuery(clusterId: number, workload: string | undefined) {
  return queryOptions({
    queryKey: ["series", "list", "peers", clusterId, workload],
    queryFn: ({ signal }) => {
      const params = { path: { cluster_id: clusterId }, query: { workload: workload ?? null } };
      return answer(api.GET("/api/v1/clusters/{cluster_id}/peers", { params, signal }));
    },
  });
}
