import { queryOptions } from "@tanstack/react-query";
import { everyItem, get } from "@/api/requests";

/** A node or target. */
export type Subject = { readonly node_id: number } | { readonly target_id: number };

/** A node with large matrices has more; then the newest are read. */
const MOST_SERIES = 2000;

/** The series that a node or target was part of. */
export function subjectSeriesQuery(subject: Subject) {
  return queryOptions({
    queryKey: ["series", "list", "subject", subject],
    queryFn: ({ signal }) =>
      everyItem(
        (page) => get("/api/v1/series", { query: { ...subject, ...page }, signal }),
        (found) => found.length >= MOST_SERIES,
      ),
  });
}
