import { queryOptions } from "@tanstack/react-query";
import { getEvery } from "@/api/requests";

export function workloadsQuery(clusterId: number | undefined) {
  return queryOptions({
    queryKey: ["workload", "list", clusterId ?? "all"],
    queryFn: ({ signal }) => getEvery("/api/v1/workloads", { query: { cluster_id: clusterId }, signal }),
  });
}

/** Includes workloads that agents no longer announce but campaigns used, for the titles of their options. */
export const namedWorkloadsQuery = queryOptions({
  queryKey: ["workload", "list", "named"],
  queryFn: ({ signal }) => getEvery("/api/v1/workloads", { query: { with_former: true }, signal }),
});
