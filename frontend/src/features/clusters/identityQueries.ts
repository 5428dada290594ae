/** Requests of what nodes are known by: join tokens, who waits to be let in, new credentials, their end. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { getEvery, post, refetch, remove } from "@/api/requests";

const PENDING_MILLISECONDS = 30_000;
const JOIN_TOKENS = ["join-token"] as const;

/** The tokens that still let hosts into a cluster, the newest first; only for its administrators. */
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

/** The hosts that wait to be let into a cluster, the one that came first on top; only for its administrators. */
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
