/** Requests of channels and of what was sent through them. */

import { infiniteQueryOptions, mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { ChannelInput } from "@/api/types";

const DELIVERIES_SHOWN = 10;

export const channelsQuery = queryOptions({
  queryKey: ["channel", "list"],
  queryFn: ({ signal }) =>
    everyItem((query) => answer(api.GET("/api/v1/channels", { params: { query }, signal }))),
});

export function deliveriesQuery(channelId: number) {
  return infiniteQueryOptions({
    queryKey: ["channel", channelId, "deliveries"],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/channels/{channel_id}/deliveries", {
          params: { path: { channel_id: channelId }, query: { limit: DELIVERIES_SHOWN, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["channel"] });
}

interface Saving {
  readonly body: ChannelInput;
  /** The channel that is changed; undefined: it is a new one. */
  readonly channelId: number | undefined;
}

export const saveChannel = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ body: { cluster_id = null, ...change }, channelId }: Saving) =>
    answer(
      channelId === undefined
        ? api.POST("/api/v1/channels", { body: { cluster_id, ...change } })
        : api.PUT("/api/v1/channels/{channel_id}", {
            params: { path: { channel_id: channelId } },
            body: change,
          }),
    ),
  onSuccess: (_channel, _saving, _result, { client }) => refetch(client),
});

export const testChannel = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (channelId: number) =>
    answer(api.POST("/api/v1/channels/{channel_id}/test", { params: { path: { channel_id: channelId } } })),
  onSettled: (_outcome, _error, _id, _result, { client }) => refetch(client),
});

export const removeChannel = mutationOptions({
  mutationFn: (channelId: number) =>
    answer(api.DELETE("/api/v1/channels/{channel_id}", { params: { path: { channel_id: channelId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
