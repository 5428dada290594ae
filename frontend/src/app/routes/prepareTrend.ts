/** Requests of a trend that start while the page's code is loading. */

import type { FetchQueryOptions, QueryClient, QueryKey } from "@tanstack/react-query";
import { clustersQuery } from "@/features/clusters/queries";
import { analysisQuery, pointsQuery, seriesQuery } from "@/features/trends/queries";
import type { TrendView } from "@/features/trends/selection";
import { workloadsQuery } from "@/features/workloads/queries";
import { MAX_TRACES } from "@/plots/figure";

/** Requests what the address names and is not known yet. The page shows errors. */
export function prepareTrend(
  client: QueryClient,
  clusterId: number,
  { workload, series = [], from, to }: TrendView,
): void {
  function request<Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>): void {
    if (client.getQueryState(query.queryKey) === undefined) void client.prefetchQuery(query);
  }
  request(clustersQuery);
  request(workloadsQuery(clusterId));
  if (workload !== undefined) request(seriesQuery(clusterId, workload));
  for (const id of series.slice(0, MAX_TRACES)) {
    request(pointsQuery(id, { from, to }));
    request(analysisQuery(id));
  }
}
