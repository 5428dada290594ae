import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, post, refetch } from "@/api/requests";
import type { EnableInput, Stripes } from "@/api/types";

/** Scratch sets of a node by name. Its agent announces them, and enabling changes the node. */
export function scratchSetsQuery(nodeId: number) {
  return queryOptions({
    queryKey: ["node", nodeId, "scratch"],
    queryFn: async ({ signal }) =>
      (await getEvery("/api/v1/scratch-sets", { query: { node_id: nodeId }, signal })).sort((a, b) =>
        a.name.localeCompare(b.name),
      ),
  });
}

/** Scratch sets of all nodes of a cluster. */
export function clusterScratchSetsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["node", "scratch", clusterId],
    queryFn: ({ signal }) => getEvery("/api/v1/scratch-sets", { query: { cluster_id: clusterId }, signal }),
  });
}

/** Numbers of a layout, with the mkfs commands of Btrfs for its own profiles, else of ext4 and XFS. */
export function stripesQuery(layout: string) {
  const filesystem: Filesystem[] = layout.trim().startsWith("btrfs") ? ["btrfs"] : ["ext4", "xfs"];
  return queryOptions({
    queryKey: ["stripes", layout],
    queryFn: ({ signal }) => get("/api/v1/stripes", { query: { layout, filesystem }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

type Filesystem = Stripes["mkfs"][number]["filesystem"];

interface Enabling {
  readonly setId: number;
  readonly wanted: EnableInput;
}

export const enableSet = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ setId, wanted }: Enabling) =>
    post("/api/v1/scratch-sets/{set_id}/enable", { path: { set_id: setId }, body: wanted }),
  // A refusal may mean that the disks have changed.
  onSettled: refetch(["node"], ["target"]),
});

export const disableSet = mutationOptions({
  mutationFn: (setId: number) => post("/api/v1/scratch-sets/{set_id}/disable", { path: { set_id: setId } }),
  onSettled: refetch(["node"]),
});

/** Queues the last cleaning of a set again. */
export const cleanAgain = mutationOptions({
  mutationFn: (runId: number) => post("/api/v1/runs/{run_id}/retry", { path: { run_id: runId } }),
  onSuccess: refetch(["node"], ["run"], ["campaign"]),
});
