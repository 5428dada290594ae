import { queryOptions } from "@tanstack/react-query";
import { getItems } from "@/api/requests";

/** They change only when an admin loads another edition. */
export const publishedSourcesQuery = queryOptions({
  queryKey: ["published", "list"],
  queryFn: ({ signal }) => getItems("/api/v1/published-sources", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});
