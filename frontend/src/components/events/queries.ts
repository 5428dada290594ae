/** Requests of events: what people say has changed outside of the results. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
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
    queryFn: async ({ signal }) => {
      const query = { limit: MOST_EVENTS, cursor: null, ...subject };
      const { items } = await answer(api.GET("/api/v1/trend-events", { params: { query }, signal }));
      return items;
    },
  });
}

/** Series are judged by it anew, and changes name it. */
function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["series"] });
}

export const addEvent = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: EventInput) => answer(api.POST("/api/v1/trend-events", { body })),
  onSuccess: (_event, _body, _result, { client }) => refetch(client),
});

export const removeEvent = mutationOptions({
  mutationFn: (eventId: number) =>
    answer(api.DELETE("/api/v1/trend-events/{event_id}", { params: { path: { event_id: eventId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
