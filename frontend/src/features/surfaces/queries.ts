/** Requests of surfaces. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

export interface SurfaceChoice {
  readonly a: string;
  readonly b: string | undefined;
  readonly metric: string | undefined;
  readonly operation: string | undefined;
}

/** What has a surface, the newest first. */
export const surfaceSourcesQuery = queryOptions({
  queryKey: ["cell", "surface-sources"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/surface-sources", { signal }))).items,
});

/** Keyed as cells: each new result of either side may change it. */
export function surfaceQuery({ a, b, metric, operation }: SurfaceChoice) {
  return queryOptions({
    queryKey: ["cell", "surface", a, b, metric, operation],
    queryFn: ({ signal }) => {
      const query = { a, b: b ?? null, metric: metric ?? null, operation: operation ?? null };
      return answer(api.GET("/api/v1/surface", { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
