import { expect, it } from "vitest";
import type { CampaignPlan, Target, Workload } from "@/api/types";
import { isRemedyOf, remedied } from "./remedies";

const SIZE = { "x-unit": "bytes", anyOf: [{ type: "integer" }, { const: "auto" }], default: "auto" };
const DATA = { enum: ["zeroes", "random"], default: "zeroes" };
const OFFERED = {
  workloads: [
    { name: "dd", options_schema: { properties: { file_size_bytes: SIZE, data: DATA } } },
    {
      name: "stream",
      options_schema: { properties: { size_bytes: { type: "integer", "x-unit": "bytes" } } },
    },
  ] as unknown as Workload[],
  targets: [
    { name: "disk", mounts: [{ fstype: "ext4" }] },
    { name: "shm", mounts: [{ fstype: "tmpfs" }] },
  ] as unknown as Target[],
};

function plan(choice: object, more: object = {}): CampaignPlan {
  const usual = { quiet: "flag", targets: ["disk"] };
  return { ...usual, workloads: [{ workload: "dd", ...choice }], ...more } as unknown as CampaignPlan;
}

const SMALL = { options: { file_size_bytes: 1 } };

it("replaces a size and its sweep by auto", () => {
  const swept = plan({ options: { block_size_bytes: 1 }, sweep: { file_size_bytes: [1, 2], jobs: [1, 2] } });
  expect(remedied(swept, ["auto_size"], OFFERED).workloads).toEqual([
    { workload: "dd", options: { block_size_bytes: 1, file_size_bytes: "auto" }, sweep: { jobs: [1, 2] } },
  ]);
});

it("drops targets in memory, where an automatic size does not fit", () => {
  const changed = remedied(plan(SMALL, { targets: ["disk", "shm"] }), ["auto_size"], OFFERED);
  expect(changed.targets).toEqual(["disk"]);
});

it("applies several changes to one plan", () => {
  const changed = remedied(plan(SMALL), ["auto_size", "random_data", "wait_idle"], OFFERED);
  expect(changed.workloads[0]?.options).toEqual({ file_size_bytes: "auto", data: "random" });
  expect(changed.quiet).toBe("wait");
});

it.each([
  ["auto is the default already", plan({}), "auto_size"],
  ["all targets are in memory", plan(SMALL, { targets: ["shm"] }), "auto_size"],
  [
    "the workload has no automatic size",
    plan({ workload: "stream", options: { size_bytes: 1 } }),
    "auto_size",
  ],
  ["the workload is unknown", plan({ workload: "own" }), "random_data"],
  ["runs wait already", plan({}, { quiet: "wait" }), "wait_idle"],
] as const)("offers nothing where %s", (_why, given, remedy) => {
  expect(isRemedyOf(given, remedy, OFFERED)).toBe(false);
});
