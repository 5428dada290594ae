import { expect, it } from "vitest";
import type { Campaign } from "@/api/types";
import { comparisonOf } from "./comparisonOf";

function campaign(plan: object): Pick<Campaign, "id" | "plan"> {
  const usual = { nodes: ["n1"], nodes_at_once: false, targets: ["disk"], targets_at_once: false };
  return { id: 9, plan: { ...usual, workloads: [{ workload: "dd" }], ...plan } as Campaign["plan"] };
}

it.each([
  ["two targets", { targets: ["disk", "shm"] }],
  ["two nodes, each on its own", { nodes: ["n1", "n2"] }],
  ["stages", { stages: [{ variant: "before" }, { variant: "after" }] }],
  [
    "layouts that a node makes",
    { scratch: { layouts: ["single", "raid1 2"], filesystems: [{ type: "xfs" }] } },
  ],
  [
    "modes of a journal",
    { scratch: { layouts: ["single"], filesystems: [{ data: ["ordered", "journal"] }] } },
  ],
  ["numbers of nodes", { nodes: ["n1", "n2"], nodes_at_once: [1, 2] }],
  ["a swept option", { workloads: [{ workload: "dd", sweep: { block_size_bytes: [1, 2] } }] }],
  ["targets of one workload", { workloads: [{ workload: "dd", targets: ["disk", "shm"] }] }],
])("opens the comparison of a campaign over %s with its sides", (_, plan) => {
  expect(comparisonOf(campaign(plan))).toEqual({ campaigns: [9] });
});

it.each([
  ["one target", {}],
  ["two targets at once", { targets: ["disk", "shm"], targets_at_once: true }],
  ["nodes at once", { nodes: ["n1", "n2"], nodes_at_once: true }],
])("asks for a second campaign where one has only %s", (_, plan) => {
  expect(comparisonOf(campaign(plan))).toEqual({ b: 9 });
});

it("opens the previous campaign of the schedule as the baseline where nothing else varies", () => {
  expect(comparisonOf({ ...campaign({}), previous_campaign_id: 7 })).toEqual({ a: 7, b: 9 });
});
