import { infiniteQueryOptions, keepPreviousData, mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem, get, getEvery, getItems, itemsOf, pages, post, refetchLater } from "@/api/requests";
import type { Artefact, Run } from "@/api/types";
import { LIVE_COUNTERS } from "./live";

const PAGE_SIZE = 100;
const CURVE_POINTS = 600;
const MOST_WAITING_SHOWN = 3;
export const MOST_REPORTED_RUNS = 2000;
/** Runs up to this length have one value per second; longer ones have means. */
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

export function runsQuery({ pageSize = PAGE_SIZE, state, ...of }: RunFilter) {
  const query = {
    campaign_id: of.campaignId,
    series_id: of.seriesId,
    node_id: of.nodeId,
    target_id: of.targetId,
    state,
  };
  return infiniteQueryOptions({
    queryKey: ["run", "list", { ...query, pageSize }],
    ...pages("/api/v1/runs", pageSize, { query }),
    select: itemsOf,
  });
}

/** Page size of the run table for requests by id. */
const MOST_BY_ID = 50;

/** Headline values by run id. They arrive with the points of the cell, after the run has ended. */
export function headlinesQuery(runIds: readonly number[]) {
  return queryOptions({
    queryKey: ["cell", "headlines", runIds],
    queryFn: async ({ signal }) => {
      const pieces = Array.from({ length: Math.ceil(runIds.length / MOST_BY_ID) }, (_, piece) =>
        runIds.slice(piece * MOST_BY_ID, (piece + 1) * MOST_BY_ID),
      );
      const read = (id: number[]) =>
        getItems("/api/v1/explorer/runs", { query: { id, limit: id.length }, signal });
      const runs = (await Promise.all(pieces.map(read))).flat();
      return new Map(runs.map(({ id, headline }) => [id, headline] as const));
    },
    enabled: runIds.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** Waiting reasons change with other runs, which send no update for this run. */
const QUEUE_MILLISECONDS = 10_000;

/** First waiting runs of a cluster in queue order. */
export function queueQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["run", "list", "queue", clusterId],
    queryFn: ({ signal }) =>
      get("/api/v1/clusters/{cluster_id}/queue", { path: { cluster_id: clusterId }, signal }),
    refetchInterval: QUEUE_MILLISECONDS,
  });
}

/** The campaign's waiting runs that come first. Each reason is expensive to compute. */
export function campaignQueueQuery(clusterId: number, campaignId: number) {
  const query = { limit: MOST_WAITING_SHOWN, campaign_id: campaignId };
  return queryOptions({
    queryKey: ["run", "list", "queue", clusterId, campaignId],
    queryFn: ({ signal }) =>
      get("/api/v1/clusters/{cluster_id}/queue", { path: { cluster_id: clusterId }, query, signal }),
    refetchInterval: QUEUE_MILLISECONDS,
  });
}

/** Runs included in a report, newest first. */
export function reportedRunsQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["run", "list", "reported", campaignId],
    queryFn: ({ signal }) =>
      everyItem(
        (page) => get("/api/v1/runs", { query: { ...page, campaign_id: campaignId }, signal }),
        (found) => found.length >= MOST_REPORTED_RUNS,
      ),
  });
}

export function runQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => get("/api/v1/runs/{run_id}", { path: { run_id: runId }, signal }),
  });
}

export function runEventsQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "events"],
    queryFn: ({ signal }) => getItems("/api/v1/runs/{run_id}/events", { path: { run_id: runId }, signal }),
  });
}

export function artefactsQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "artefacts"],
    queryFn: ({ signal }) => getItems("/api/v1/runs/{run_id}/artefacts", { path: { run_id: runId }, signal }),
  });
}

export function artefactTextQuery(artefactId: number) {
  const params = { path: { artefact_id: artefactId } };
  return queryOptions({
    queryKey: ["artefact", artefactId],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/artefacts/{artefact_id}", { params, parseAs: "text", signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Reads raw output as the tool wrote it, one file after the other: a run may have dozens. */
export const readArtefacts = mutationOptions({
  mutationFn: async (artefacts: readonly Artefact[]) => {
    const files: { readonly name: string; readonly content: Uint8Array }[] = [];
    for (const { id, name } of artefacts) {
      const params = { path: { artefact_id: id } };
      const call = api.GET("/api/v1/artefacts/{artefact_id}", { params, parseAs: "arrayBuffer" });
      files.push({ name, content: new Uint8Array(await answer(call)) });
    }
    return files;
  },
});

/** Superseded readings never change. */
export function readingQuery(readingId: number) {
  return queryOptions({
    queryKey: ["reading", readingId],
    queryFn: ({ signal }) =>
      get("/api/v1/readings/{reading_id}", { path: { reading_id: readingId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function countersQuery(runId: number) {
  return queryOptions({
    queryKey: ["run", runId, "counters"],
    queryFn: ({ signal }) => getItems("/api/v1/runs/{run_id}/counters", { path: { run_id: runId }, signal }),
  });
}

/** Selected counters only; all counters of a long run would be megabytes. */
export function curvesQuery(runId: number, counters: readonly string[]) {
  const query = { max_points: CURVE_POINTS, counter: counters };
  return queryOptions({
    queryKey: ["run", runId, "curves", counters],
    queryFn: ({ signal }) =>
      getItems("/api/v1/runs/{run_id}/curves", { path: { run_id: runId }, query, signal }),
  });
}

/** Throughput of a running load. Nodes send seconds in pieces, so it polls instead of following heartbeats. */
export function liveQuery(runId: number) {
  const query = { max_points: LIVE_POINTS, counter: LIVE_COUNTERS };
  return queryOptions({
    queryKey: ["curves", "live", runId],
    queryFn: ({ signal }) =>
      getItems("/api/v1/runs/{run_id}/curves", { path: { run_id: runId }, query, signal }),
    refetchInterval: LIVE_MILLISECONDS,
  });
}

/** Values of these runs in a series. Reads pages from the newest sample until all are found. */
export function valuesQuery(seriesId: number, runIds: readonly number[]) {
  return queryOptions({
    queryKey: ["series", seriesId, "samples", runIds],
    queryFn: async ({ signal }) => {
      const samples = await everyItem(
        (page) => get("/api/v1/samples", { query: { ...page, series_id: seriesId }, signal }),
        (found) => {
          const seen = new Set(found.map(({ run_id }) => run_id));
          return runIds.every((id) => seen.has(id));
        },
      );
      return samples.filter(({ run_id }) => runIds.includes(run_id));
    },
  });
}

export const cancelRun = mutationOptions({
  mutationFn: (runId: number) => post("/api/v1/runs/{run_id}/cancel", { path: { run_id: runId } }),
  onSuccess: refetchLater(["run"], ["campaign"]),
});

function retry(runId: number) {
  return post("/api/v1/runs/{run_id}/retry", { path: { run_id: runId } });
}

export const retryRun = mutationOptions({
  mutationFn: retry,
  onSuccess: refetchLater(["run"], ["campaign"]),
});

/** Retries the failed runs one request at a time, since each may be refused. */
export const retryFailed = mutationOptions({
  mutationFn: async (campaignId: number) => {
    const failed = await getEvery("/api/v1/runs", { query: { campaign_id: campaignId, state: "failed" } });
    const refusals: unknown[] = [];
    // Sequential, since a campaign may have thousands. A refusal does not stop the others.
    for (const { id } of failed) await retry(id).catch((refusal: unknown) => refusals.push(refusal));
    if (refusals.length > 0) throw refusals[0];
  },
  onSettled: refetchLater(["run"], ["campaign"]),
});
