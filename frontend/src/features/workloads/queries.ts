/** The catalogue of workloads that agents announced. */

import { queryOptions } from "@tanstack/react-query";
import { getEvery } from "@/api/requests";

/** Those of one cluster, or of all that the user may see. */
export function workloadsQuery(clusterId: number | undefined) {
  return queryOptions({
    queryKey: ["workload", "list", clusterId ?? "all"],
    queryFn: ({ signal }) => getEvery("/api/v1/workloads", { query: { cluster_id: clusterId }, signal }),
  });
}

/** With those that only campaigns know any more, for the names of their options. */
export const namedWorkloadsQuery = queryOptions({
  queryKey: ["workload", "list", "named"],
  queryFn: ({ signal }) => getEvery("/api/v1/workloads", { query: { with_former: true }, signal }),
});
