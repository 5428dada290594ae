import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

export interface ComparedSides {
  readonly a: number;
  readonly b: number;
  /** Cell ids; undefined: pair all matching cells. */
  readonly aCell: number | undefined;
  readonly bCell: number | undefined;
}

/** Campaigns, or cells that are one side each. */
export interface ComparedMany {
  readonly campaigns: readonly number[];
  readonly cells: readonly number[];
  readonly by: string | undefined;
  readonly against: number | undefined;
}

/** Keyed like the comparison of two campaigns. */
export function sidesQuery({ campaigns, cells, by, against = 0 }: ComparedMany) {
  const named = cells.length > 0 ? { cell: cells } : { campaign: campaigns, by };
  return queryOptions({
    queryKey: ["cell", "sides", campaigns, cells, by, against],
    queryFn: ({ signal }) => get("/api/v1/comparison/sides", { query: { ...named, against }, signal }),
  });
}

/** Keyed as cells: new results of either side may change it. */
export function comparisonQuery({ a, b, aCell, bCell }: ComparedSides) {
  return queryOptions({
    queryKey: ["cell", "comparison", a, b, aCell, bCell],
    queryFn: ({ signal }) =>
      get("/api/v1/comparison", { query: { a, b, a_cell: aCell, b_cell: bCell }, signal }),
  });
}

/** New points of any series may reveal an outlier. */
export function peersQuery(cluster_id: number, workload: string | undefined) {
  return queryOptions({
    queryKey: ["series", "list", "peers", cluster_id, workload],
    queryFn: ({ signal }) =>
      get("/api/v1/clusters/{cluster_id}/peers", { path: { cluster_id }, query: { workload }, signal }),
  });
}
