import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, patch, post, put, refetch, remove } from "@/api/requests";
import type { TargetInput } from "@/api/types";

/** Targets of a cluster, except retired ones. */
export function targetsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["target", "list", clusterId],
    queryFn: async ({ signal }) =>
      (await getEvery("/api/v1/targets", { query: { cluster_id: clusterId }, signal }))
        .filter((target) => !target.retired_at)
        .sort((a, b) => a.name.localeCompare(b.name)),
  });
}

/** Mounts that could become a target or join one. Any report of a node may change them. */
export function candidatesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "candidates", clusterId],
    queryFn: ({ signal }) =>
      get("/api/v1/clusters/{cluster_id}/candidates", { path: { cluster_id: clusterId }, signal }),
  });
}

export function targetQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", "one", targetId],
    queryFn: ({ signal }) => get("/api/v1/targets/{target_id}", { path: { target_id: targetId }, signal }),
  });
}

export function targetFactsQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", "facts", targetId],
    queryFn: ({ signal }) =>
      get("/api/v1/targets/{target_id}/facts", { path: { target_id: targetId }, signal }),
  });
}

const refetchTargets = refetch(["target"], ["node", "candidates"]);

export const createTarget = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: TargetInput) => post("/api/v1/targets", { body }),
  onSuccess: refetchTargets,
});

interface Joining {
  readonly targetId: number;
  readonly elsewhere: { node_id: number; path: string }[];
}

/** Adds nodes to a target. Its other nodes keep their approval. */
export const joinTarget = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, ...body }: Joining) =>
    patch("/api/v1/targets/{target_id}", { path: { target_id: targetId }, body }),
  onSuccess: refetchTargets,
});

export const setBacking = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, targets }: { targetId: number; targets: number[] }) =>
    put("/api/v1/targets/{target_id}/backed-by", { path: { target_id: targetId }, body: { targets } }),
  onSuccess: refetchTargets,
});

/** Switches confirmation runs of a target on or off. */
export const setSuspects = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ targetId, confirms }: { targetId: number; confirms: boolean }) =>
    patch("/api/v1/targets/{target_id}", {
      path: { target_id: targetId },
      body: { confirms_suspects: confirms },
    }),
  onSuccess: refetchTargets,
});

export const retireTarget = mutationOptions({
  mutationFn: (targetId: number) => remove("/api/v1/targets/{target_id}", { path: { target_id: targetId } }),
  onSuccess: refetchTargets,
});
