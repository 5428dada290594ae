import { infiniteQueryOptions, mutationOptions, queryOptions } from "@tanstack/react-query";
import { getEvery, pages, post, put, refetch, remove } from "@/api/requests";
import type { ChannelInput } from "@/api/types";

const DELIVERIES_SHOWN = 10;

export const channelsQuery = queryOptions({
  queryKey: ["channel", "list"],
  queryFn: ({ signal }) => getEvery("/api/v1/channels", { signal }),
});

export function deliveriesQuery(channelId: number) {
  const path = { channel_id: channelId };
  return infiniteQueryOptions({
    queryKey: ["channel", channelId, "deliveries"],
    ...pages("/api/v1/channels/{channel_id}/deliveries", DELIVERIES_SHOWN, { path }),
  });
}

interface Saving {
  readonly body: ChannelInput;
  /** Undefined: a new channel. */
  readonly channelId: number | undefined;
}

export const saveChannel = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ body: { cluster_id = null, ...change }, channelId }: Saving) =>
    channelId === undefined
      ? post("/api/v1/channels", { body: { cluster_id, ...change } })
      : put("/api/v1/channels/{channel_id}", { path: { channel_id: channelId }, body: change }),
  onSuccess: refetch(["channel"]),
});

export const testChannel = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (channelId: number) =>
    post("/api/v1/channels/{channel_id}/test", { path: { channel_id: channelId } }),
  onSettled: refetch(["channel"]),
});

export const removeChannel = mutationOptions({
  mutationFn: (channelId: number) =>
    remove("/api/v1/channels/{channel_id}", { path: { channel_id: channelId } }),
  onSuccess: refetch(["channel"]),
});
