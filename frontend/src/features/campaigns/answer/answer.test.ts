import { expect, it } from "vitest";
import type { CampaignMeasures, CampaignPlan, Cell } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { groupResults, splitPrimary } from "../results";
import { headlinesOf } from "./headlines";
import { qualityOf } from "./quality";

const OFFERED = { workloads: [], targets: [] };
const PLAN = { quiet: "flag", targets: [], workloads: [] } as unknown as CampaignPlan;
const METRICS = [
  { workload: "dd", metric: "throughput", is_primary: true },
  { workload: "dd", metric: "user_seconds", is_primary: false },
] as CampaignMeasures["metrics"];
const RESULT = {
  metric: "throughput",
  title: "Throughput",
  n: 4,
  flags: ["DURATION"],
  variation_ratio: null,
  labels: { operation: "write" },
};
const READ = { labels: { operation: "read" } };

/** Primary results of a campaign with a cell for each list of results. */
function primaryOf(...cells: readonly (readonly object[])[]) {
  const made = cells.map((results, at) => ({
    ...{ id: at, ordinal: at, workload: "dd", options: { at } },
    results: results.map((result) => ({ ...RESULT, ...result })),
  }));
  return splitPrimary(
    groupResults(made as unknown as Cell[], () => plainTitle),
    METRICS,
  ).primary;
}

it("states one headline for each operation, over all configurations", () => {
  const primary = primaryOf([{ median: 1 }, READ], [{ median: 2 }, READ]);
  expect(headlinesOf(primary).map(({ what, results }) => [what, results.length])).toEqual([
    ["write", 2],
    ["read", 2],
  ]);
});

it("leaves out secondary metrics, and single writers if there is a total", () => {
  const primary = primaryOf([
    {},
    { labels: { operation: "write", writer: "1" } },
    { metric: "user_seconds" },
  ]);
  expect(headlinesOf(primary).map(({ results }) => results.length)).toEqual([1]);
});

it("separates the cautions of all primary results from those of some, worst first", () => {
  const found = qualityOf(
    primaryOf(
      [
        { flags: ["CV", "DURATION", "CACHE_SIZE", "STEADY"], variation_ratio: 0.12 },
        { metric: "user_seconds", flags: ["ERRORS"] },
      ],
      [{ n: 2, flags: ["DURATION", "STEADY"] }],
      [{ flags: ["CACHE_SIZE", "CV", "DURATION"], variation_ratio: 0.06 }],
    ),
    PLAN,
    OFFERED,
  );
  expect(found).toEqual({
    ...{ resultCount: 3, common: ["DURATION"], fewCount: 1, remedies: [] },
    partial: [
      { code: "CACHE_SIZE", resultCount: 2, spread: [0.06, 0.12] },
      { code: "CV", resultCount: 2, spread: [0.06, 0.12] },
    ],
  });
});

it("offers to wait for an idle node where other load disturbed all runs", () => {
  const { remedies } = qualityOf(primaryOf([{ flags: ["FOREIGN_LOAD"] }]), PLAN, OFFERED);
  expect(remedies).toEqual(["wait_idle"]);
});
