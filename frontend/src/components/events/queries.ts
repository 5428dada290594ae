/** Requests of events: what people say has changed outside of the results. */

import { mutationOptions, type QueryClient } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { EventInput } from "@/api/types";

/** Series are judged by it anew, and changes name it. */
function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["series"] });
}

export const tellEvent = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: EventInput) => answer(api.POST("/api/v1/trend-events", { body })),
  onSuccess: (_event, _body, _result, { client }) => refetch(client),
});

export const removeEvent = mutationOptions({
  mutationFn: (eventId: number) =>
    answer(api.DELETE("/api/v1/trend-events/{event_id}", { params: { path: { event_id: eventId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
