import { expect, it } from "vitest";
import type { CampaignMeasures, CampaignPlan, Cell } from "@/api/types";
import { commonCautions } from "./cautions";
import { headlinesOf } from "./headlines";

const OFFERED = { workloads: [], targets: [] };
const METRICS = [
  { workload: "dd", metric: "throughput", is_primary: true },
  { workload: "dd", metric: "user_seconds", is_primary: false },
] as CampaignMeasures["metrics"];
const RESULT = {
  metric: "throughput",
  title: "Throughput",
  n: 4,
  flags: ["DURATION"],
  labels: { operation: "write" },
};

function cell(...results: object[]): Cell {
  return { workload: "dd", results: results.map((result) => ({ ...RESULT, ...result })) } as unknown as Cell;
}

it("states one headline for each operation, over all configurations", () => {
  const cells = [1, 2].map((size) => cell({ median: size }, { labels: { operation: "read" } }));
  expect(headlinesOf(cells, METRICS).map(({ what, results }) => [what, results.length])).toEqual([
    ["write", 2],
    ["read", 2],
  ]);
});

it("leaves out secondary metrics, and single writers if there is a total", () => {
  const writer = { labels: { operation: "write", writer: "1" } };
  const found = headlinesOf([cell({}, writer, { metric: "user_seconds" })], METRICS);
  expect(found.map(({ results }) => results.length)).toEqual([1]);
});

it("names a caution only if all primary results have it", () => {
  const cells = [
    cell({ flags: ["DURATION", "CACHE_SIZE"] }, { metric: "user_seconds", flags: [] }),
    cell({ n: 2 }),
  ];
  const plan = { quiet: "flag", targets: [], workloads: [] } as unknown as CampaignPlan;
  expect(commonCautions(cells, METRICS, plan, OFFERED)).toEqual({
    ...{ resultCount: 2, codes: ["DURATION"], fewCount: 1, remedies: [] },
  });
});

it("offers to wait for an idle node where other load disturbed all runs", () => {
  const plan = { quiet: "flag", targets: [], workloads: [] } as unknown as CampaignPlan;
  expect(commonCautions([cell({ flags: ["FOREIGN_LOAD"] })], METRICS, plan, OFFERED).remedies).toEqual([
    "wait_idle",
  ]);
});
