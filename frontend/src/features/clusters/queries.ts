/** Requests of clusters, their nodes and the tokens that let a node join. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { Cluster } from "@/api/types";

export const clustersQuery = queryOptions({
  queryKey: ["cluster", "list"],
  queryFn: ({ signal }) =>
    everyItem((query) => answer(api.GET("/api/v1/clusters", { params: { query }, signal }))),
});

/** A beat is no news of its node, so what it tells is asked for: “last seen” now and then, progress often. */
const LAST_SEEN_MILLISECONDS = 30_000;
const PROGRESS_MILLISECONDS = 3000;

/** Every node of a cluster with all that it announced, retired ones left out; stale as soon as one announces anew. */
export function nodesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "announced", clusterId],
    queryFn: async ({ signal }) => {
      const nodes = await everyItem((page) =>
        answer(api.GET("/api/v1/nodes", { params: { query: { ...page, cluster_id: clusterId } }, signal })),
      );
      return nodes.filter((node) => node.state !== "retired").sort((a, b) => a.name.localeCompare(b.name));
    },
    refetchInterval: LAST_SEEN_MILLISECONDS,
  });
}

/** Every node of a cluster, retired ones left out, in a line each. */
export function nodeLinesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "list", clusterId],
    queryFn: async ({ signal }) => {
      const path = { cluster_id: clusterId };
      const nodes = await everyItem((query) =>
        answer(api.GET("/api/v1/clusters/{cluster_id}/nodes", { params: { path, query }, signal })),
      );
      return nodes.sort((a, b) => a.name.localeCompare(b.name));
    },
    refetchInterval: ({ state: { data = [] } }) =>
      data.some((node) => node.active_orders.length > 0) ? PROGRESS_MILLISECONDS : LAST_SEEN_MILLISECONDS,
  });
}

export function nodeQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/nodes/{node_id}", { params: { path: { node_id: nodeId } }, signal })),
    refetchInterval: ({ state: { data } }) =>
      data && data.active_orders.length > 0 ? PROGRESS_MILLISECONDS : LAST_SEEN_MILLISECONDS,
  });
}

export const createCluster = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; description: string }) =>
    answer(api.POST("/api/v1/clusters", { body: { ...body, launcher: "direct" } })),
  onSuccess: (_cluster, _body, _result, { client }) => client.invalidateQueries({ queryKey: ["cluster"] }),
});

interface NewLauncher {
  readonly clusterId: number;
  readonly launcher: Cluster["launcher"];
}

export const changeLauncher = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, launcher }: NewLauncher) =>
    answer(
      api.PATCH("/api/v1/clusters/{cluster_id}", {
        params: { path: { cluster_id: clusterId } },
        body: { launcher },
      }),
    ),
  onSuccess: (_cluster, _wanted, _result, { client }) => client.invalidateQueries({ queryKey: ["cluster"] }),
});

/** The maintenance days of a cluster that are not over, the next one first. */
export function blackoutsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["cluster", clusterId, "blackouts"],
    queryFn: async ({ signal }) => {
      const path = { cluster_id: clusterId };
      const blackouts = await everyItem((query) =>
        answer(api.GET("/api/v1/clusters/{cluster_id}/blackouts", { params: { path, query }, signal })),
      );
      return blackouts.sort((a, b) => Date.parse(a.starts_at) - Date.parse(b.starts_at));
    },
  });
}

interface NewBlackout {
  readonly clusterId: number;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly reason: string;
}

export const createBlackout = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, ...body }: NewBlackout) =>
    answer(
      api.POST("/api/v1/clusters/{cluster_id}/blackouts", {
        params: { path: { cluster_id: clusterId } },
        body,
      }),
    ),
  onSuccess: (_blackout, { clusterId }, _result, { client }) =>
    client.invalidateQueries({ queryKey: ["cluster", clusterId] }),
});

export const removeBlackout = mutationOptions({
  mutationFn: (blackoutId: number) =>
    answer(api.DELETE("/api/v1/blackouts/{blackout_id}", { params: { path: { blackout_id: blackoutId } } })),
  onSuccess: (_done, _id, _result, { client }) => client.invalidateQueries({ queryKey: ["cluster"] }),
});

export const retireNode = mutationOptions({
  mutationFn: (nodeId: number) =>
    answer(api.DELETE("/api/v1/nodes/{node_id}", { params: { path: { node_id: nodeId } } })),
  onSuccess: (_done, _id, _result, { client }) => client.invalidateQueries({ queryKey: ["node"] }),
});

/** What calling a silent node dead would free and end; asked again each time that somebody wants to know. */
export function deathStatementQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "dead"],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/nodes/{node_id}/dead", { params: { path: { node_id: nodeId } }, signal })),
    gcTime: 0,
    retry: false,
  });
}

/** What freeing a stuck node would do; asked again each time that somebody wants to know. */
export function stuckStatementQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "stuck"],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/nodes/{node_id}/stuck", { params: { path: { node_id: nodeId } }, signal })),
    gcTime: 0,
    retry: false,
  });
}

/** Fetch again what a decision frees; where it was refused, its statement is no longer what it was. */
function refetchFreed(client: QueryClient) {
  return Promise.all(["node", "run", "target"].map((kind) => client.invalidateQueries({ queryKey: [kind] })));
}

export const freeStuck = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ nodeId, digest }: { nodeId: number; digest: string }) =>
    answer(
      api.POST("/api/v1/nodes/{node_id}/stuck", {
        params: { path: { node_id: nodeId } },
        body: { statement_sha256: digest },
      }),
    ),
  onSettled: (_node, _error, _wanted, _result, { client }) => refetchFreed(client),
});

export const declareDead = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ nodeId, digest }: { nodeId: number; digest: string }) =>
    answer(
      api.POST("/api/v1/nodes/{node_id}/dead", {
        params: { path: { node_id: nodeId } },
        body: { statement_sha256: digest },
      }),
    ),
  onSettled: (_node, _error, _wanted, _result, { client }) => refetchFreed(client),
});
