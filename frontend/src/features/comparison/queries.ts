/** Requests of comparisons: of two campaigns, of many sides, and of peers. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

export interface ComparedSides {
  /** Campaigns. */
  readonly a: number;
  readonly b: number;
  /** Numbers of single cells of theirs; undefined: all that belong together. */
  readonly aCell: number | undefined;
  readonly bCell: number | undefined;
}

/** Campaigns, or cells that are a side each. */
export interface ComparedMany {
  readonly campaigns: readonly number[];
  readonly cells: readonly number[];
  readonly by: string | undefined;
  readonly against: number | undefined;
}

/** Keyed as the comparison of two. */
export function sidesQuery({ campaigns, cells, by, against }: ComparedMany) {
  return queryOptions({
    queryKey: ["cell", "sides", campaigns, cells, by, against],
    queryFn: ({ signal }) => {
      const named = cells.length > 0 ? { cell: [...cells] } : { campaign: [...campaigns], by: by ?? null };
      const query = { ...named, against: against ?? 0 };
      return answer(api.GET("/api/v1/comparison/sides", { params: { query }, signal }));
    },
  });
}

/** Keyed as cells: each new result of either side may change it. */
export function comparisonQuery({ a, b, aCell, bCell }: ComparedSides) {
  return queryOptions({
    queryKey: ["cell", "comparison", a, b, aCell, bCell],
    queryFn: ({ signal }) => {
      const query = { a, b, a_cell: aCell ?? null, b_cell: bCell ?? null };
      return answer(api.GET("/api/v1/comparison", { params: { query }, signal }));
    },
  });
}

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
