/** Requests of runs: lists, one of them, and what it left behind. */

import {
  infiniteQueryOptions,
  type MutationFunctionContext,
  mutationOptions,
  queryOptions,
} from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { LARGEST_PAGE, type PageOf } from "@/api/pages";
import type { Run, Sample } from "@/api/types";

const PAGE_SIZE = 100;
const CURVE_POINTS = 600;

export interface RunFilter {
  readonly campaignId?: number;
  readonly seriesId?: number;
  readonly state?: Run["state"] | undefined;
}

export function runsQuery({ campaignId, seriesId, state }: RunFilter) {
  return infiniteQueryOptions({
    queryKey: ["run", "list", { campaignId, seriesId, state }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: PAGE_SIZE,
        cursor: pageParam,
        campaign_id: campaignId ?? null,
        series_id: seriesId ?? null,
        state: state ?? null,
      };
      return answer(api.GET("/api/v1/runs", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
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

export const cancelRun = mutationOptions({
  mutationFn: (runId: number) =>
    answer(api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } } })),
  onSuccess: refreshRuns,
});

export const retryRun = mutationOptions({
  mutationFn: (runId: number) =>
    answer(api.POST("/api/v1/runs/{run_id}/retry", { params: { path: { run_id: runId } } })),
  onSuccess: refreshRuns,
});

function refreshRuns(_run: unknown, _id: number, _result: unknown, { client }: MutationFunctionContext) {
  client.invalidateQueries({ queryKey: ["run"] });
  client.invalidateQueries({ queryKey: ["campaign"] });
}
