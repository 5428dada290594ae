import { expect, it } from "vitest";
import type { ExplorerRun } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { scalingOf } from "./scaling";

let nextRun = 1;

function run(nodes: number, tasks: number | undefined, value: number, more: object = {}): ExplorerRun {
  const headline = { metric: "throughput", title: "Throughput", unit: "bytes_per_second", labels: {}, value };
  nextRun += 1;
  return {
    ...{ id: nextRun, workload: "ior", state: "finished", validity: "valid", flags: [], variant: "" },
    ...{ cluster_name: "hpc", target_names: ["scratch"], options: tasks === undefined ? {} : { tasks } },
    ...{ node_names: Array.from({ length: nodes }, (_, place) => `n${place}`), headline, ...more },
  } as unknown as ExplorerRun;
}

const scale = (...runs: ExplorerRun[]) => scalingOf(runs, () => plainTitle);

it("draws medians over the tasks on all nodes, a line for each number of tasks per node", () => {
  const found = scale(run(1, 2, 10), run(1, 2, 14), run(2, 2, 18), run(1, 4, 20), run(2, 4, 36));
  expect(found?.totals).toEqual([2, 4, 8]);
  expect(found?.groups.map(({ name, runs }) => [name, runs.map(({ at, median }) => [at, median])])).toEqual([
    [
      "Tasks 2",
      [
        [2, 12],
        [4, 18],
      ],
    ],
    [
      "Tasks 4",
      [
        [4, 20],
        [8, 36],
      ],
    ],
  ]);
  expect(found?.groups[1]?.runs[1]?.note).toBe("75 % of ideal");
  expect(found?.scaling).toEqual({
    ideals: [{ from: { tasks: 2, value: 12 }, to: { tasks: 8, value: 48 } }],
    span: [10, 48],
  });
});

it("counts nodes without an option for tasks", () => {
  expect(scale(run(1, undefined, 10), run(4, undefined, 30))).toMatchObject({
    hasTasks: false,
    totals: [1, 4],
  });
});

it("separates setups that differ in more than nodes and tasks", () => {
  const other = { target_names: ["home"] };
  const found = scale(run(1, 2, 10), run(2, 2, 18), run(1, 2, 5, other), run(2, 2, 9, other));
  expect(found?.groups.map(({ name }) => name)).toEqual(["Target scratch", "Target home"]);
});

it.each([
  ["of one size", [run(1, 2, 10), run(1, 2, 11)]],
  ["of two workloads", [run(1, 2, 10), run(2, 2, 18), run(1, 2, 5, { workload: "mdtest" })]],
  ["with 0 tasks, which have no place on the axis", [run(1, 0, 10), run(2, 2, 18)]],
  ["rejected", [run(1, 2, 10), run(2, 2, 18, { validity: "rejected" })]],
  ["whose setups have one size each", [run(1, 2, 10), run(2, 2, 18, { variant: "xfs" })]],
])("has none for runs %s", (_, runs) => {
  expect(scale(...runs)).toBeUndefined();
});
