import { expect, it } from "vitest";
import type { Board, BoardCell } from "@/api/types";
import { type BoardState, countsOf, ofCluster, shareOf, worstFirst } from "./standings";

function cell(state: BoardState, shift: number | null = null, others = 0, clusterId = 1): BoardCell {
  const counts = [{ state, series: 2 }, ...(others ? [{ state: "in_control", series: others }] : [])];
  return { cluster_id: clusterId, workload: "dd", state, shift_ratio: shift, counts } as unknown as BoardCell;
}

it("shows how many series are in the state of their cell", () => {
  expect(shareOf(cell("slower", -0.2, 6))).toBe("2 of 8 series");
  expect(shareOf(cell("in_control"))).toBe("2 series");
});

it("counts cells by state, worst first", () => {
  expect(countsOf([cell("in_control"), cell("slower"), cell("in_control"), cell("stale")])).toEqual([
    ["slower", 1],
    ["stale", 1],
    ["in_control", 2],
  ]);
});

it("puts the worst cluster and the worst cell first, and clusters without cells last", () => {
  const cells = [
    cell("in_control"),
    cell("slower", -0.1, 0, 2),
    cell("stale", null, 0, 2),
    cell("slower", -0.3, 0, 3),
  ];
  const clusters = [1, 2, 3, 4].map((id) => ({ id })) as Board["clusters"];
  const shown = worstFirst({ clusters, cells }).map((row) => [
    row.cluster.id,
    row.cells.map(({ state }) => state),
  ]);
  expect(shown).toEqual([
    [3, ["slower"]],
    [2, ["slower", "stale"]],
    [1, ["in_control"]],
    [4, []],
  ]);
});

it("keeps only the cells and workloads of one cluster", () => {
  const clusters = [{ id: 1 }, { id: 2 }];
  const other = { ...cell("slower", -0.1, 0, 2), workload: "fio" };
  const attention = [{ cluster_id: 1 }, { cluster_id: 2 }];
  const board = {
    clusters,
    workloads: ["dd", "fio"],
    cells: [cell("slower"), other],
    attention,
  } as unknown as Board;
  const own = ofCluster(board, 2);
  expect([own.clusters.map(({ id }) => id), own.workloads, own.cells]).toEqual([[2], ["fio"], [other]]);
  expect(own.attention).toEqual([{ cluster_id: 2 }]);
  expect(ofCluster(board, undefined)).toBe(board);
});
