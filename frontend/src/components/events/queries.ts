/** Requests of events: what people say has changed outside of the results. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { getItems, post, refetch, remove } from "@/api/requests";
import type { EventInput } from "@/api/types";

const MOST_EVENTS = 200;

/** Of what events are wanted: of all of a cluster, or of what happened to one node or target. */
export type EventSubject =
  | { readonly cluster_id: number }
  | { readonly node_id: number }
  | { readonly target_id: number };

/** The events of it that were noted last; new points of a series may have seen another one. */
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
  // Series are judged by it anew, and changes name it.
  onSuccess: refetch(["series"]),
});

export const removeEvent = mutationOptions({
  mutationFn: (eventId: number) => remove("/api/v1/trend-events/{event_id}", { path: { event_id: eventId } }),
  onSuccess: refetch(["series"]),
});
