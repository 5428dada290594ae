import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, getItems } from "@/api/requests";

export interface SurfaceChoice {
  readonly a: string;
  readonly b: string | undefined;
  readonly metric: string | undefined;
  readonly operation: string | undefined;
}

/** Cells that have a surface, newest first. */
export const surfaceSourcesQuery = queryOptions({
  queryKey: ["cell", "surface-sources"],
  queryFn: ({ signal }) => getItems("/api/v1/surface-sources", { signal }),
});

/** Keyed as cells: new results of either side may change it. */
export function surfaceQuery({ a, b, metric, operation }: SurfaceChoice) {
  return queryOptions({
    queryKey: ["cell", "surface", a, b, metric, operation],
    queryFn: ({ signal }) => get("/api/v1/surface", { query: { a, b, metric, operation }, signal }),
    placeholderData: keepPreviousData,
  });
}
