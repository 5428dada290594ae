import { expect, it } from "vitest";
import type { ListedCampaign } from "@/api/types";
import { waysOf } from "./ways";

const DD = { workload: "dd", sweep: { file_size_bytes: ["64 MiB", "1 GiB"] } };

function campaign(id: number, plan: object | null = {}): ListedCampaign {
  const usual = { targets: ["disk"], nodes: ["node-1"], workloads: [{ workload: "dd" }] };
  return { id, plan: plan && { ...usual, ...plan } } as unknown as ListedCampaign;
}

function possible(...chosen: ListedCampaign[]): string[] {
  return waysOf(chosen).flatMap(({ label, missing }) => (missing === null ? [label] : []));
}

it("offers only what the plans of the chosen campaigns vary", () => {
  expect(possible()).toEqual([]);
  expect(possible(campaign(1))).toEqual([]);
  expect(possible(campaign(1, { targets: ["disk", "shm"], workloads: [DD] }))).toEqual([
    "By target",
    "By file size",
  ]);
  expect(possible(campaign(1), campaign(2, { nodes: ["node-2"] }))).toEqual([
    "By node",
    "Campaign against campaign",
  ]);
});

it("says what is missing for the other ways", () => {
  const missing = waysOf([campaign(1)]).map((way) => way.missing);
  expect(missing).toEqual([
    "they have one target",
    "they have one node",
    "they sweep no option",
    "choose two campaigns",
  ]);
});

it("takes the older of two campaigns as baseline, and more than two as sides", () => {
  expect(waysOf([campaign(9), campaign(4)]).at(-1)?.search).toEqual({ a: 4, b: 9 });
  const three = [campaign(9), campaign(4), campaign(5)];
  expect(waysOf(three).at(-1)?.search).toEqual({ campaigns: [9, 4, 5], by: "campaign" });
});

it("offers every place for a plan that the viewer may not see", () => {
  expect(possible(campaign(1, null))).toEqual(["By target", "By node"]);
});
