/** Requests of runs: lists, one of them, and what it left behind. */

import {
  infiniteQueryOptions,
  keepPreviousData,
  type MutationFunctionContext,
  mutationOptions,
  queryOptions,
} from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem, LARGEST_PAGE, type PageOf } from "@/api/pages";
import type { Run, Sample } from "@/api/types";
import { LIVE_COUNTERS } from "./live";

const PAGE_SIZE = 100;
const CURVE_POINTS = 600;
const MOST_WAITING_SHOWN = 3;
export const MOST_REPORTED_RUNS = 2000;
/** Every second of a run of up to so many; a longer one is looked at in means. */
const LIVE_POINTS = 3600;
const LIVE_MILLISECONDS = 5000;

export interface RunFilter {
  readonly campaignId?: number;
  readonly seriesId?: number;
  readonly nodeId?: number;
  readonly targetId?: number;
  readonly state?: Run["state"] | undefined;
  readonly pageSize?: number;
}

export function runsQuery({
  campaignId,
  seriesId,
  nodeId,
  targetId,
  state,
  pageSize = PAGE_SIZE,
}: RunFilter) {
  return infiniteQueryOptions({
    queryKey: ["run", "list", { campaignId, seriesId, nodeId, targetId, state, pageSize }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: pageSize,
        cursor: pageParam,
        campaign_id: campaignId ?? null,
        series_id: seriesId ?? null,
        node_id: nodeId ?? null,
        target_id: targetId ?? null,
        state: state ?? null,
      };
      return answer(api.GET("/api/v1/runs", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

/** As many runs as the table of all runs is asked for by their ids. */
const MOST_BY_ID = 50;

/** By id, the number that each of these runs is known by: it comes with the points of its cell, after the run ended. */
export function headlinesQuery(runIds: readonly number[]) {
  return queryOptions({
    queryKey: ["cell", "headlines", runIds],
    queryFn: async ({ signal }) => {
      const pieces = Array.from({ length: Math.ceil(runIds.length / MOST_BY_ID) }, (_, piece) =>
        runIds.slice(piece * MOST_BY_ID, (piece + 1) * MOST_BY_ID),
      );
      const pages = await Promise.all(
        pieces.map((id) => {
          const params = { query: { id, limit: id.length } };
          return answer(api.GET("/api/v1/explorer/runs", { params, signal }));
        }),
      );
      return new Map(pages.flatMap(({ items }) => items.map(({ id, headline }) => [id, headline] as const)));
    },
    enabled: runIds.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** Why a run waits changes with what others do, of which there is no news of this run. */
const QUEUE_MILLISECONDS = 10_000;

/** The first waiting runs of a cluster in the order in which they are served. */
export function queueQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["run", "list", "queue", clusterId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/clusters/{cluster_id}/queue", {
          params: { path: { cluster_id: clusterId } },
          signal,
        }),
      ),
    refetchInterval: QUEUE_MILLISECONDS,
  });
}

/** The runs of one campaign that are served first among its own; each costs a look at all that it needs. */
export function campaignQueueQuery(clusterId: number, campaignId: number) {
  return queryOptions({
    queryKey: ["run", "list", "queue", clusterId, campaignId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/clusters/{cluster_id}/queue", {
          params: {
            path: { cluster_id: clusterId },
            query: { limit: MOST_WAITING_SHOWN, campaign_id: campaignId },
          },
          signal,
        }),
      ),
    refetchInterval: QUEUE_MILLISECONDS,
  });
}

/** The runs of a campaign that a report speaks of, the newest first. */
export function reportedRunsQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["run", "list", "reported", campaignId],
    queryFn: async ({ signal }) => {
      const found: Run[] = [];
      let cursor: string | null = null;
      do {
        const query = { limit: LARGEST_PAGE, cursor, campaign_id: campaignId };
        const page: PageOf<Run> = await answer(api.GET("/api/v1/runs", { params: { query }, signal }));
        found.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null && found.length < MOST_REPORTED_RUNS);
      return found;
    },
  });
}

export function runQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
  });
}

export function runEventsQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "events"],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id: runId } }, signal })))
        .items,
  });
}

export function artefactsQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "artefacts"],
    queryFn: async ({ signal }) =>
      (
        await answer(
          api.GET("/api/v1/runs/{run_id}/artefacts", { params: { path: { run_id: runId } }, signal }),
        )
      ).items,
  });
}

/** The text of a raw output; it never changes. */
export function artefactTextQuery(artefactId: number) {
  return queryOptions({
    queryKey: ["artefact", artefactId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/artefacts/{artefact_id}", {
          params: { path: { artefact_id: artefactId } },
          parseAs: "text",
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** A reading with its numbers; those of a former one never change. */
export function readingQuery(readingId: number) {
  return queryOptions({
    queryKey: ["reading", readingId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/readings/{reading_id}", { params: { path: { reading_id: readingId } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The counters of which a run has curves. */
export function countersQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "counters"],
    queryFn: async ({ signal }) =>
      (
        await answer(
          api.GET("/api/v1/runs/{run_id}/counters", { params: { path: { run_id: runId } }, signal }),
        )
      ).items,
  });
}

/** The curves of these counters; those of all of a long run would be megabytes. */
export function curvesQuery(runId: number, counters: readonly string[]) {
  return queryOptions({
    queryKey: ["run", runId, "curves", counters],
    queryFn: async ({ signal }) => {
      const query = { max_points: CURVE_POINTS, counter: [...counters] };
      const params = { path: { run_id: runId }, query };
      return (await answer(api.GET("/api/v1/runs/{run_id}/curves", { params, signal }))).items;
    },
  });
}

/** What each of these runs measured in a series; walks back from its newest sample until all are found. */
export function valuesQuery(seriesId: number, runIds: readonly number[]) {
  return queryOptions({
    queryKey: ["series", seriesId, "samples", runIds],
    queryFn: async ({ signal }) => {
      const found: Sample[] = [];
      const missing = new Set(runIds);
      let cursor: string | null = null;
      do {
        const query = { limit: LARGEST_PAGE, cursor, series_id: seriesId };
        const page: PageOf<Sample> = await answer(api.GET("/api/v1/samples", { params: { query }, signal }));
        found.push(...page.items.filter(({ run_id }) => runIds.includes(run_id)));
        for (const { run_id } of page.items) missing.delete(run_id);
        cursor = page.next_cursor;
      } while (cursor !== null && missing.size > 0);
      return found;
    },
  });
}

/** What a running load moves; its nodes send the seconds in pieces, so it is asked for now and then, not at each beat. */
export function liveQuery(runId: number) {
  return queryOptions({
    queryKey: ["curves", "live", runId],
    queryFn: async ({ signal }) => {
      const query = { max_points: LIVE_POINTS, counter: [...LIVE_COUNTERS] };
      const params = { path: { run_id: runId }, query };
      return (await answer(api.GET("/api/v1/runs/{run_id}/curves", { params, signal }))).items;
    },
    refetchInterval: LIVE_MILLISECONDS,
  });
}

export const cancelRun = mutationOptions({
  mutationFn: (runId: number) =>
    answer(api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } } })),
  onSuccess: refreshRuns,
});

function retry(runId: number) {
  return answer(api.POST("/api/v1/runs/{run_id}/retry", { params: { path: { run_id: runId } } }));
}

export const retryRun = mutationOptions({
  mutationFn: retry,
  onSuccess: refreshRuns,
});

/** All failed runs of a campaign, each by its own request, since each may be refused. */
export const retryFailed = mutationOptions({
  mutationFn: async (campaignId: number) => {
    const failed = await everyItem((page) => {
      const query = { ...page, campaign_id: campaignId, state: "failed" as const };
      return answer(api.GET("/api/v1/runs", { params: { query } }));
    });
    const refusals: unknown[] = [];
    // One after the other: a campaign may have thousands. What is refused does not hold up the rest.
    for (const { id } of failed) await retry(id).catch((refusal: unknown) => refusals.push(refusal));
    if (refusals.length > 0) throw refusals[0];
  },
  onSettled: (_nothing, _error, id, result, context) => refreshRuns(undefined, id, result, context),
});

function refreshRuns(_run: unknown, _id: number, _result: unknown, { client }: MutationFunctionContext) {
  client.invalidateQueries({ queryKey: ["run"] });
  client.invalidateQueries({ queryKey: ["campaign"] });
}
