import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, patch, post, refetch, remove } from "@/api/requests";
import type { Cluster } from "@/api/types";

export const clustersQuery = queryOptions({
  queryKey: ["cluster", "list"],
  queryFn: ({ signal }) => getEvery("/api/v1/clusters", { signal }),
});

/** Heartbeats send no updates, so these queries poll: rarely for “last seen”, often for progress. */
const LAST_SEEN_MILLISECONDS = 30_000;
const PROGRESS_MILLISECONDS = 3000;

/** All nodes with everything they announced, except retired ones. Refetched when a node announces something. */
export function nodesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "announced", clusterId],
    queryFn: async ({ signal }) =>
      byName(
        (await getEvery("/api/v1/nodes", { query: { cluster_id: clusterId }, signal })).filter(
          (node) => node.state !== "retired",
        ),
      ),
    refetchInterval: LAST_SEEN_MILLISECONDS,
  });
}

/** One line per node, except retired ones. */
export function nodeLinesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "list", clusterId],
    queryFn: async ({ signal }) =>
      byName(
        await getEvery("/api/v1/clusters/{cluster_id}/nodes", { path: { cluster_id: clusterId }, signal }),
      ),
    refetchInterval: ({ state: { data = [] } }) =>
      data.some((node) => node.active_orders.length > 0) ? PROGRESS_MILLISECONDS : LAST_SEEN_MILLISECONDS,
  });
}

function byName<Named extends { readonly name: string }>(nodes: readonly Named[]): Named[] {
  return nodes.toSorted((a, b) => a.name.localeCompare(b.name));
}

export function nodeQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId],
    queryFn: ({ signal }) => get("/api/v1/nodes/{node_id}", { path: { node_id: nodeId }, signal }),
    refetchInterval: ({ state: { data } }) =>
      data && data.active_orders.length > 0 ? PROGRESS_MILLISECONDS : LAST_SEEN_MILLISECONDS,
  });
}

export const createCluster = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; description: string }) =>
    post("/api/v1/clusters", { body: { ...body, launcher: "direct" } }),
  onSuccess: refetch(["cluster"]),
});

export const changeLauncher = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, ...body }: { clusterId: number; launcher: Cluster["launcher"] }) =>
    patch("/api/v1/clusters/{cluster_id}", { path: { cluster_id: clusterId }, body }),
  onSuccess: refetch(["cluster"]),
});

/** Maintenance windows that are not over, next one first. */
export function maintenanceQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["cluster", clusterId, "blackouts"],
    queryFn: async ({ signal }) =>
      (
        await getEvery("/api/v1/clusters/{cluster_id}/blackouts", { path: { cluster_id: clusterId }, signal })
      ).sort((a, b) => Date.parse(a.starts_at) - Date.parse(b.starts_at)),
  });
}

interface NewMaintenance {
  readonly clusterId: number;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly reason: string;
}

export const createMaintenance = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, ...body }: NewMaintenance) =>
    post("/api/v1/clusters/{cluster_id}/blackouts", { path: { cluster_id: clusterId }, body }),
  onSuccess: refetch(["cluster"]),
});

export const removeMaintenance = mutationOptions({
  mutationFn: (blackoutId: number) =>
    remove("/api/v1/blackouts/{blackout_id}", { path: { blackout_id: blackoutId } }),
  onSuccess: refetch(["cluster"]),
});

export const retireNode = mutationOptions({
  mutationFn: (nodeId: number) => remove("/api/v1/nodes/{node_id}", { path: { node_id: nodeId } }),
  onSuccess: refetch(["node"]),
});

/** Statements are loaded again each time they are opened. */
const AFRESH = { gcTime: 0, retry: false } as const;

export function deathStatementQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "dead"],
    queryFn: ({ signal }) => get("/api/v1/nodes/{node_id}/dead", { path: { node_id: nodeId }, signal }),
    ...AFRESH,
  });
}

export function stuckStatementQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "stuck"],
    queryFn: ({ signal }) => get("/api/v1/nodes/{node_id}/stuck", { path: { node_id: nodeId }, signal }),
    ...AFRESH,
  });
}

export function revocationQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "revocation"],
    queryFn: ({ signal }) => get("/api/v1/nodes/{node_id}/revocation", { path: { node_id: nodeId }, signal }),
    ...AFRESH,
  });
}

interface Confirmed {
  readonly nodeId: number;
  /** SHA-256 of the confirmed statement. */
  readonly digest: string;
}

export const freeStuck = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ nodeId, digest }: Confirmed) =>
    post("/api/v1/nodes/{node_id}/stuck", { path: { node_id: nodeId }, body: { statement_sha256: digest } }),
  // A refusal means that the statement has changed.
  onSettled: refetch(["node"], ["run"], ["target"]),
});

export const declareDead = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ nodeId, digest }: Confirmed) =>
    post("/api/v1/nodes/{node_id}/dead", { path: { node_id: nodeId }, body: { statement_sha256: digest } }),
  onSettled: refetch(["node"], ["run"], ["target"]),
});

const PENDING_MILLISECONDS = 30_000;
const JOIN_TOKENS = ["join-token"] as const;

/** Valid join tokens, newest first; for admins only. */
export function joinTokensQuery(clusterId: number) {
  return queryOptions({
    queryKey: [...JOIN_TOKENS, clusterId],
    queryFn: ({ signal }) =>
      getEvery("/api/v1/clusters/{cluster_id}/join-tokens", { path: { cluster_id: clusterId }, signal }),
    refetchInterval: PENDING_MILLISECONDS,
  });
}

const JOIN_TOKEN_SECONDS = 3600;

interface NewJoinToken {
  readonly clusterId: number;
  readonly uses: number;
  readonly needsApproval: boolean;
}

export const createJoinToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, uses, needsApproval }: NewJoinToken) =>
    post("/api/v1/clusters/{cluster_id}/join-tokens", {
      path: { cluster_id: clusterId },
      body: { uses, expires_in_seconds: JOIN_TOKEN_SECONDS, needs_approval: needsApproval },
    }),
  onSuccess: refetch(JOIN_TOKENS),
});

export const revokeJoinToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (tokenId: number) => remove("/api/v1/join-tokens/{token_id}", { path: { token_id: tokenId } }),
  onSettled: refetch(JOIN_TOKENS),
});

/** Pending nodes, oldest first; for admins only. */
export function pendingNodesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "pending", clusterId],
    queryFn: async ({ signal }) =>
      (
        await getEvery("/api/v1/clusters/{cluster_id}/pending-nodes", {
          path: { cluster_id: clusterId },
          signal,
        })
      ).reverse(),
    refetchInterval: PENDING_MILLISECONDS,
  });
}

interface Decision {
  readonly clusterId: number;
  readonly pendingIds: readonly number[];
  readonly isApproved: boolean;
}

export const decideOnPending = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ clusterId, pendingIds, isApproved }: Decision) =>
    post(`/api/v1/clusters/{cluster_id}/pending-nodes/${isApproved ? "approve" : "refuse"}`, {
      path: { cluster_id: clusterId },
      body: { pending_ids: [...pendingIds] },
    }),
  onSettled: refetch(["node"]),
});

export const rotateNode = mutationOptions({
  mutationFn: (nodeId: number) => post("/api/v1/nodes/{node_id}/rotate", { path: { node_id: nodeId } }),
  onSuccess: refetch(["node"]),
});

export const revokeNode = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (nodeId: number) => post("/api/v1/nodes/{node_id}/revoke", { path: { node_id: nodeId } }),
  onSettled: refetch(["node"], ["run"]),
});

export const createReenrolmentToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (nodeId: number) =>
    post("/api/v1/nodes/{node_id}/join-token", {
      path: { node_id: nodeId },
      body: { expires_in_seconds: JOIN_TOKEN_SECONDS },
    }),
  onSuccess: refetch(JOIN_TOKENS),
});
