/** Requests of campaigns: lists, one of them, its cells, the preview of a plan, submitting and cancelling. */

import { infiniteQueryOptions, mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { Campaign, CampaignPlan } from "@/api/types";
import { retryWhileBusy } from "@/api/waiting";

/** A beat is no news of its campaign, so progress is asked for. */
const PROGRESS_MILLISECONDS = 3000;
const PAGE_SIZE = 50;
const CELLS_PER_PAGE = 200;
const MOST_CELLS_OF_A_FIGURE = 500;
const MOST_ORDERS_OF_A_TIMELINE = 400;

export interface CampaignFilter {
  readonly state?: Campaign["state"] | undefined;
  readonly clusterId?: number | undefined;
}

export function campaignsQuery({ state = undefined, clusterId = undefined }: CampaignFilter) {
  return infiniteQueryOptions({
    queryKey: ["campaign", "list", { state, clusterId }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: PAGE_SIZE,
        cursor: pageParam,
        state: state ?? null,
        cluster_id: clusterId ?? null,
      };
      return answer(api.GET("/api/v1/campaigns", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

export function campaignQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["campaign", campaignId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}", { params: { path: { campaign_id: campaignId } }, signal }),
      ),
    refetchInterval: ({ state: { data } }) => data?.state === "active" && PROGRESS_MILLISECONDS,
  });
}

export function cellsQuery(campaignId: number) {
  return infiniteQueryOptions({
    queryKey: ["cell", "list", campaignId],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}/cells", {
          params: { path: { campaign_id: campaignId }, query: { limit: CELLS_PER_PAGE, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

/** What a figure of the campaign can show. */
export function measuresQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["cell", "measures", campaignId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}/measures", {
          params: { path: { campaign_id: campaignId } },
          signal,
        }),
      ),
  });
}

export interface MeasurementFilter {
  readonly metric?: string;
  readonly counter?: string;
  readonly workload: string;
}

/** The numbers of every run of a metric or counter, of as many cells as a figure shows. */
export function measurementsQuery(campaignId: number, { metric, counter, workload }: MeasurementFilter) {
  return queryOptions({
    queryKey: ["cell", "measurements", campaignId, { metric, counter, workload }],
    queryFn: async ({ signal }) => {
      const wanted = { metric: metric ?? null, counter: counter ?? null, workload };
      const query = { limit: MOST_CELLS_OF_A_FIGURE, cursor: null, ...wanted };
      const params = { path: { campaign_id: campaignId }, query };
      return answer(api.GET("/api/v1/campaigns/{campaign_id}/measurements", { params, signal }));
    },
    placeholderData: (previous) => previous,
  });
}

/** What the server makes of a plan; nothing is stored. */
export function previewQuery(plan: CampaignPlan) {
  return queryOptions({
    queryKey: ["preview", plan],
    queryFn: ({ signal }) => answer(api.POST("/api/v1/campaigns/preview", { body: plan, signal })),
    placeholderData: (previous) => previous,
    retry: retryWhileBusy,
  });
}

export const submitCampaign = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ plan, idempotencyKey }: { plan: CampaignPlan; idempotencyKey: string }) =>
    answer(
      api.POST("/api/v1/campaigns", {
        params: { header: { "idempotency-key": idempotencyKey } },
        body: plan,
      }),
    ),
  onSuccess: (_campaign, _plan, _result, { client }) =>
    client.invalidateQueries({ queryKey: ["campaign", "list"] }),
});

/** What a paused campaign waits for; asked for again while nodes look around. */
export function pauseQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["campaign", campaignId, "pause"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}/pause", {
          params: { path: { campaign_id: campaignId } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) =>
      data?.looked_at != null && data.waiting_for.length > 0 && PROGRESS_MILLISECONDS,
  });
}

export const lookAtPause = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (campaignId: number) =>
    answer(
      api.POST("/api/v1/campaigns/{campaign_id}/pause/look", {
        params: { path: { campaign_id: campaignId } },
      }),
    ),
  onSuccess: (pause, _id, _result, { client }) =>
    client.setQueryData(pauseQuery(pause.campaign_id).queryKey, pause),
});

export const confirmPause = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ campaignId, found }: { campaignId: number; found: string }) =>
    answer(
      api.POST("/api/v1/campaigns/{campaign_id}/confirm", {
        params: { path: { campaign_id: campaignId } },
        body: { found_sha256: found },
      }),
    ),
  onSettled: (_campaign, _error, _wanted, _result, { client }) =>
    client.invalidateQueries({ queryKey: ["campaign"] }),
});

export interface WantedRepeats {
  readonly campaignId: number;
  readonly repeats: number;
  /** Of which cells; null: of all. */
  readonly cell_ids: number[] | null;
  readonly idempotencyKey: string;
}

export const addRepeats = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ campaignId, idempotencyKey, ...body }: WantedRepeats) =>
    answer(
      api.POST("/api/v1/campaigns/{campaign_id}/repeats", {
        params: { path: { campaign_id: campaignId }, header: { "idempotency-key": idempotencyKey } },
        body,
      }),
    ),
  onSuccess: (campaign, _wanted, _result, { client }) => {
    client.setQueryData(campaignQuery(campaign.id).queryKey, campaign);
    client.invalidateQueries({ queryKey: ["campaign", "list"] });
    client.invalidateQueries({ queryKey: ["cell"] });
    client.invalidateQueries({ queryKey: ["run"] });
  },
});

/** The part of a campaign's timeline that is looked at; open ends are those of the campaign. */
export interface TimelineSpan {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** When the nodes did what; asked for again while it goes on, since a beat is no news of a campaign. */
export function timelineQuery(campaign: Campaign, { from, to }: TimelineSpan) {
  return queryOptions({
    queryKey: ["campaign", campaign.id, "timeline", { from, to }],
    queryFn: ({ signal }) => {
      const query = { limit: MOST_ORDERS_OF_A_TIMELINE, from: from ?? null, to: to ?? null };
      const params = { path: { campaign_id: campaign.id }, query };
      return answer(api.GET("/api/v1/campaigns/{campaign_id}/timeline", { params, signal }));
    },
    placeholderData: (previous) => previous,
    refetchInterval: campaign.counts.active > 0 && to === undefined && PROGRESS_MILLISECONDS,
  });
}

export const cancelCampaign = mutationOptions({
  mutationFn: (campaignId: number) =>
    answer(
      api.POST("/api/v1/campaigns/{campaign_id}/cancel", { params: { path: { campaign_id: campaignId } } }),
    ),
  onSuccess: (campaign, _id, _result, { client }) => {
    client.invalidateQueries({ queryKey: ["campaign", campaign.id] });
    client.invalidateQueries({ queryKey: ["campaign", "list"] });
    client.invalidateQueries({ queryKey: ["run"] });
  },
});

export const changePriority = mutationOptions({
  mutationFn: ({ campaignId, priority }: { campaignId: number; priority: number }) =>
    answer(
      api.PATCH("/api/v1/campaigns/{campaign_id}", {
        params: { path: { campaign_id: campaignId } },
        body: { priority },
      }),
    ),
  onSuccess: (campaign, _wanted, _result, { client }) => {
    client.invalidateQueries({ queryKey: ["campaign", campaign.id] });
    client.invalidateQueries({ queryKey: ["run"] });
  },
});
