/** Requests of published results. */

import { queryOptions } from "@tanstack/react-query";
import { getItems } from "@/api/requests";

/** They change with an edition alone, which an administrator loads. */
export const publishedSourcesQuery = queryOptions({
  queryKey: ["published", "list"],
  queryFn: ({ signal }) => getItems("/api/v1/published-sources", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
