/** Requests of targets: the file systems and directories under test. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { TargetInput } from "@/api/types";

/** Every target of a cluster that is not retired. */
export function targetsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["target", "list", clusterId],
    queryFn: async ({ signal }) => {
      const targets = await everyItem((page) =>
        answer(api.GET("/api/v1/targets", { params: { query: { ...page, cluster_id: clusterId } }, signal })),
      );
      return targets.filter((target) => !target.retired_at).sort((a, b) => a.name.localeCompare(b.name));
    },
  });
}

/** What the nodes have mounted that could become a target or join one; each word of a node may change it. */
export function candidatesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "candidates", clusterId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/clusters/{cluster_id}/candidates", {
          params: { path: { cluster_id: clusterId } },
          signal,
        }),
      ),
  });
}

export function targetQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", "one", targetId],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/targets/{target_id}", { params: { path: { target_id: targetId } }, signal })),
  });
}

export function targetFactsQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", "facts", targetId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/targets/{target_id}/facts", { params: { path: { target_id: targetId } }, signal }),
      ),
  });
}

async function refetch(client: QueryClient): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ["target"] }),
    client.invalidateQueries({ queryKey: ["node", "candidates"] }),
  ]);
}

export const createTarget = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: TargetInput) => answer(api.POST("/api/v1/targets", { body })),
  onSuccess: (_target, _body, _result, { client }) => refetch(client),
});

interface Joining {
  readonly targetId: number;
  readonly elsewhere: { node_id: number; path: string }[];
}

/** Puts a target on more nodes; what it is on the others is not accepted anew. */
export const joinTarget = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, ...body }: Joining) =>
    answer(api.PATCH("/api/v1/targets/{target_id}", { params: { path: { target_id: targetId } }, body })),
  onSuccess: (_target, _body, _result, { client }) => refetch(client),
});

export const setBacking = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, targets }: { targetId: number; targets: number[] }) =>
    answer(
      api.PUT("/api/v1/targets/{target_id}/backed-by", {
        params: { path: { target_id: targetId } },
        body: { targets },
      }),
    ),
  onSuccess: (_target, _body, _result, { client }) => refetch(client),
});

/** Whether a suspected change on it is looked at again by runs of iotide's own. */
export const setSuspects = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, confirms }: { targetId: number; confirms: boolean }) =>
    answer(
      api.PATCH("/api/v1/targets/{target_id}", {
        params: { path: { target_id: targetId } },
        body: { confirms_suspects: confirms },
      }),
    ),
  onSuccess: (_target, _wanted, _result, { client }) => refetch(client),
});

export const retireTarget = mutationOptions({
  mutationFn: (targetId: number) =>
    answer(api.DELETE("/api/v1/targets/{target_id}", { params: { path: { target_id: targetId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
