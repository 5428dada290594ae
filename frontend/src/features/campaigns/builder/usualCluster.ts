import type { Cluster } from "@/api/types";

interface UsedCluster {
  readonly cluster_id: number;
  readonly owner: string | null;
}

/**
 * Return the cluster in which a new campaign starts: the one that the user used last, else the one of the newest
 * campaign, else the first. Campaigns come newest first. Nothing runs on sample data.
 */
export function usualCluster(
  clusters: readonly Cluster[],
  campaigns: readonly UsedCluster[],
  userName: string,
): Cluster | undefined {
  const real = clusters.filter(({ origin }) => origin !== "made_up");
  const used = (found: readonly UsedCluster[]) =>
    found.map(({ cluster_id }) => real.find(({ id }) => id === cluster_id)).find(Boolean);
  return used(campaigns.filter(({ owner }) => owner === userName)) ?? used(campaigns) ?? real[0];
}
