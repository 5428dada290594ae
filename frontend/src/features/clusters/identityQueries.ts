/** Requests of what nodes are known by: join tokens, who waits to be let in, new credentials, their end. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

const PENDING_MILLISECONDS = 30_000;
const JOIN_TOKENS = ["join-token"] as const;

/** The tokens that still let hosts into a cluster, the newest first; only for its administrators. */
export function joinTokensQuery(clusterId: number) {
  return queryOptions({
    queryKey: [...JOIN_TOKENS, clusterId],
    queryFn: ({ signal }) => {
      const path = { cluster_id: clusterId };
      return everyItem((query) =>
        answer(api.GET("/api/v1/clusters/{cluster_id}/join-tokens", { params: { path, query }, signal })),
      );
    },
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
    answer(
      api.POST("/api/v1/clusters/{cluster_id}/join-tokens", {
        params: { path: { cluster_id: clusterId } },
        body: { uses, expires_in_seconds: JOIN_TOKEN_SECONDS, needs_approval: needsApproval },
      }),
    ),
  onSuccess: (_token, _asked, _result, { client }) => client.invalidateQueries({ queryKey: JOIN_TOKENS }),
});

export const revokeJoinToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (tokenId: number) =>
    answer(api.DELETE("/api/v1/join-tokens/{token_id}", { params: { path: { token_id: tokenId } } })),
  onSettled: (_done, _error, _id, _result, { client }) => client.invalidateQueries({ queryKey: JOIN_TOKENS }),
});

/** The hosts that wait to be let into a cluster, the one that came first on top; only for its administrators. */
export function pendingNodesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "pending", clusterId],
    queryFn: async ({ signal }) => {
      const path = { cluster_id: clusterId };
      const pending = await everyItem((query) =>
        answer(api.GET("/api/v1/clusters/{cluster_id}/pending-nodes", { params: { path, query }, signal })),
      );
      return pending.reverse();
    },
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
  mutationFn: ({ clusterId, pendingIds, isApproved }: Decision) => {
    const request = { params: { path: { cluster_id: clusterId } }, body: { pending_ids: [...pendingIds] } };
    return answer(
      isApproved
        ? api.POST("/api/v1/clusters/{cluster_id}/pending-nodes/approve", request)
        : api.POST("/api/v1/clusters/{cluster_id}/pending-nodes/refuse", request),
    );
  },
  onSettled: (_done, _error, _decision, _result, { client }) =>
    client.invalidateQueries({ queryKey: ["node"] }),
});

export const rotateNode = mutationOptions({
  mutationFn: (nodeId: number) =>
    answer(api.POST("/api/v1/nodes/{node_id}/rotate", { params: { path: { node_id: nodeId } } })),
  onSuccess: (_node, _id, _result, { client }) => client.invalidateQueries({ queryKey: ["node"] }),
});

/** What revoking a node would do; asked anew each time that somebody wants to know. */
export function revocationQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "revocation"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/nodes/{node_id}/revocation", { params: { path: { node_id: nodeId } }, signal }),
      ),
    gcTime: 0,
    retry: false,
  });
}

export const revokeNode = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (nodeId: number) =>
    answer(api.POST("/api/v1/nodes/{node_id}/revoke", { params: { path: { node_id: nodeId } } })),
  onSettled: (_node, _error, _id, _result, { client }) =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["node"] }),
      client.invalidateQueries({ queryKey: ["run"] }),
    ]),
});

export const createReenrolmentToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (nodeId: number) =>
    answer(
      api.POST("/api/v1/nodes/{node_id}/join-token", {
        params: { path: { node_id: nodeId } },
        body: { expires_in_seconds: JOIN_TOKEN_SECONDS },
      }),
    ),
  onSuccess: (_token, _id, _result, { client }) => client.invalidateQueries({ queryKey: JOIN_TOKENS }),
});
