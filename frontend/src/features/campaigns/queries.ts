import { infiniteQueryOptions, keepPreviousData, mutationOptions, queryOptions } from "@tanstack/react-query";
import { retryWhileBusy } from "@/api/errors";
import { get, getItems, itemsOf, pages, patch, post, refetch, refetchLater } from "@/api/requests";
import type { Campaign, CampaignPlan, CampaignSort } from "@/api/types";
import { activePreparations } from "./preparations";

/** Heartbeats do not update campaigns on the change feed, so poll for progress. */
const PROGRESS_MILLISECONDS = 3000;
const PAGE_SIZE = 50;
const CELLS_PER_PAGE = 200;
const MOST_CELLS_OF_A_FIGURE = 500;
const MOST_ORDERS_OF_A_TIMELINE = 400;

export interface CampaignFilter {
  readonly state?: Campaign["state"] | undefined;
  readonly clusterId?: number | undefined;
  readonly scheduleId?: number | undefined;
  readonly owner?: string | undefined;
  /** Part of the name. */
  readonly text?: string | undefined;
  readonly sort?: CampaignSort | undefined;
}

export function campaignsQuery(filter: CampaignFilter) {
  return infiniteQueryOptions({
    queryKey: ["campaign", "list", filter],
    ...pages("/api/v1/campaigns", PAGE_SIZE, { query: parametersOf(filter) }),
    select: itemsOf,
    placeholderData: keepPreviousData,
  });
}

/** Like `campaignsQuery`, with only the newest campaign of each schedule. */
export function campaignGroupsQuery(filter: CampaignFilter) {
  return infiniteQueryOptions({
    queryKey: ["campaign", "list", "groups", filter],
    ...pages("/api/v1/campaign-groups", PAGE_SIZE, { query: parametersOf(filter) }),
    select: itemsOf,
    placeholderData: keepPreviousData,
  });
}

function parametersOf({ clusterId, scheduleId, ...filter }: CampaignFilter) {
  return { ...filter, cluster_id: clusterId, schedule_id: scheduleId };
}

/** Main results of campaigns by id; those without results are missing. */
export function headlinesQuery(campaignIds: readonly number[]) {
  return queryOptions({
    queryKey: ["cell", "headlines", campaignIds],
    queryFn: async ({ signal }) => {
      const query = { campaign_id: campaignIds };
      const found = await getItems("/api/v1/campaign-headlines", { query, signal });
      return new Map(found.map((headline) => [headline.campaign_id, headline]));
    },
    enabled: campaignIds.length > 0,
  });
}

export function campaignQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["campaign", campaignId],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}", { path: { campaign_id: campaignId }, signal }),
    refetchInterval: ({ state: { data } }) => data?.state === "active" && PROGRESS_MILLISECONDS,
  });
}

export function cellsQuery(campaignId: number) {
  const path = { campaign_id: campaignId };
  return infiniteQueryOptions({
    queryKey: ["cell", "list", campaignId],
    ...pages("/api/v1/campaigns/{campaign_id}/cells", CELLS_PER_PAGE, { path }),
    select: itemsOf,
  });
}

export function measuresQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["cell", "measures", campaignId],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/measures", { path: { campaign_id: campaignId }, signal }),
  });
}

export interface MeasurementFilter {
  readonly metric?: string;
  readonly counter?: string;
  readonly workload: string;
}

/** Values of all runs of a metric or counter, for as many cells as a figure shows. */
export function measurementsQuery(campaignId: number, { metric, counter, workload }: MeasurementFilter) {
  const query = { limit: MOST_CELLS_OF_A_FIGURE, metric, counter, workload };
  return queryOptions({
    queryKey: ["cell", "measurements", campaignId, { metric, counter, workload }],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/measurements", {
        path: { campaign_id: campaignId },
        query,
        signal,
      }),
    placeholderData: (previous) => previous,
  });
}

/** Preview of a plan; stores nothing. */
export function previewQuery(plan: CampaignPlan) {
  return queryOptions({
    queryKey: ["preview", plan],
    queryFn: ({ signal }) => post("/api/v1/campaigns/preview", { body: plan, signal }),
    placeholderData: (previous) => previous,
    retry: retryWhileBusy,
  });
}

export const submitCampaign = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ plan, idempotencyKey }: { plan: CampaignPlan; idempotencyKey: string }) =>
    post("/api/v1/campaigns", { header: { "idempotency-key": idempotencyKey }, body: plan }),
  onSuccess: refetch(["campaign", "list"]),
});

/** Pause of a campaign; polled while nodes are probed. */
export function pauseQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["campaign", campaignId, "pause"],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/pause", { path: { campaign_id: campaignId }, signal }),
    refetchInterval: ({ state: { data } }) =>
      data?.looked_at != null && data.waiting_for.length > 0 && PROGRESS_MILLISECONDS,
  });
}

export const probePause = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (campaignId: number) =>
    post("/api/v1/campaigns/{campaign_id}/pause/look", { path: { campaign_id: campaignId } }),
  onSuccess: (pause, _id, _result, { client }) =>
    client.setQueryData(pauseQuery(pause.campaign_id).queryKey, pause),
});

export const confirmPause = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ campaignId, found }: { campaignId: number; found: string }) =>
    post("/api/v1/campaigns/{campaign_id}/confirm", {
      path: { campaign_id: campaignId },
      body: { found_sha256: found },
    }),
  onSettled: refetch(["campaign"]),
});

export interface WantedRepeats {
  readonly campaignId: number;
  readonly repeats: number;
  /** Ids of cells; null: all. */
  readonly cell_ids: number[] | null;
  readonly idempotencyKey: string;
}

export const addRepeats = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ campaignId, idempotencyKey, ...body }: WantedRepeats) =>
    post("/api/v1/campaigns/{campaign_id}/repeats", {
      path: { campaign_id: campaignId },
      header: { "idempotency-key": idempotencyKey },
      body,
    }),
  onSuccess: (campaign, wanted, result, context) => {
    context.client.setQueryData(campaignQuery(campaign.id).queryKey, campaign);
    refetchLater(["campaign", "list"], ["cell"], ["run"])(campaign, wanted, result, context);
  },
});

/** Period of a campaign's timeline; open ends are those of the campaign. */
export interface TimelineSpan {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Timeline of a campaign. Polled while it runs, since heartbeats do not update campaigns on the change feed. */
export function timelineQuery(campaign: Campaign, { from, to }: TimelineSpan) {
  const query = { limit: MOST_ORDERS_OF_A_TIMELINE, from, to };
  return queryOptions({
    queryKey: ["campaign", campaign.id, "timeline", { from, to }],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/timeline", { path: { campaign_id: campaign.id }, query, signal }),
    placeholderData: (previous) => previous,
    refetchInterval:
      campaign.counts.active + activePreparations(campaign) > 0 && to === undefined && PROGRESS_MILLISECONDS,
  });
}

export const cancelCampaign = mutationOptions({
  mutationFn: (campaignId: number) =>
    post("/api/v1/campaigns/{campaign_id}/cancel", { path: { campaign_id: campaignId } }),
  onSuccess: refetchLater(["campaign"], ["run"]),
});

export const changePriority = mutationOptions({
  mutationFn: ({ campaignId, priority }: { campaignId: number; priority: number }) =>
    patch("/api/v1/campaigns/{campaign_id}", { path: { campaign_id: campaignId }, body: { priority } }),
  onSuccess: refetchLater(["campaign"], ["run"]),
});
