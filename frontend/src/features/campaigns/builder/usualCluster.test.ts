import { expect, it } from "vitest";
import type { Cluster } from "@/api/types";
import { usualCluster } from "./usualCluster";

const CLUSTERS = [
  { id: 9, name: "demo-hpc", origin: "made_up" },
  { id: 1, name: "lab", origin: "own" },
  { id: 2, name: "hall", origin: "own" },
] as Cluster[];
const campaign = (cluster_id: number, owner: string) => ({ cluster_id, owner });

it("starts in the cluster that the user used last", () => {
  const campaigns = [campaign(1, "ada"), campaign(2, "grace"), campaign(1, "grace")];
  expect(usualCluster(CLUSTERS, campaigns, "grace")?.name).toBe("hall");
});

it("starts in the cluster of the newest campaign if the user has used none", () => {
  expect(usualCluster(CLUSTERS, [campaign(2, "ada")], "grace")?.name).toBe("hall");
});

it("never starts in sample data", () => {
  expect(usualCluster(CLUSTERS, [campaign(9, "grace")], "grace")?.name).toBe("lab");
  expect(usualCluster(CLUSTERS.slice(0, 1), [], "grace")).toBeUndefined();
});
