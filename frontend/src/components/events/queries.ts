import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { getItems, post, refetch, remove } from "@/api/requests";
import type { EventInput } from "@/api/types";

const MOST_EVENTS = 200;

/** All events of a cluster, or those of one node or target. */
export type EventSubject =
  | { readonly cluster_id: number }
  | { readonly node_id: number }
  | { readonly target_id: number };

/** The newest events of the subject. New points of a series may have found another. */
export function eventsQuery(subject: EventSubject) {
  return queryOptions({
    queryKey: ["series", "list", "events", subject],
    queryFn: ({ signal }) =>
      getItems("/api/v1/trend-events", { query: { limit: MOST_EVENTS, ...subject }, signal }),
  });
}

export const addEvent = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: EventInput) => post("/api/v1/trend-events", { body }),
  // Series are evaluated against it again, and changes refer to it.
  onSuccess: refetch(["series"]),
});

export const removeEvent = mutationOptions({
  mutationFn: (eventId: number) => remove("/api/v1/trend-events/{event_id}", { path: { event_id: eventId } }),
  onSuccess: refetch(["series"]),
});
