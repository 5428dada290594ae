/** Requests of published results. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** They change with an edition alone, which an administrator loads. */
export const publishedSourcesQuery = queryOptions({
  queryKey: ["published", "list"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/published-sources", { signal }))).items,
  staleTime: Number.POSITIVE_INFINITY,
});
