import { expect, it } from "vitest";
import type { Board, BoardCell } from "@/api/types";
import { type BoardState, changedCells, ofCluster, shareOf, summaryOf } from "./standings";

function cell(state: BoardState, shift: number | null = null, others = 0, clusterId = 1): BoardCell {
  const counts = [{ state, series: 2 }, ...(others ? [{ state: "in_control", series: others }] : [])];
  return { cluster_id: clusterId, workload: "dd", state, shift_ratio: shift, counts } as unknown as BoardCell;
}

it("shows how many series are in the state of their cell", () => {
  expect(shareOf(cell("slower", -0.2, 6))).toBe("2 of 8 series");
  expect(shareOf(cell("in_control"))).toBe("2 series");
});

it("counts cells by state, worst first", () => {
  expect(summaryOf([cell("in_control"), cell("slower"), cell("in_control"), cell("stale")])).toBe(
    "1 slower, 1 stale, 2 in control",
  );
});

it("lists changed cells, worst first and by size of the change", () => {
  const cells = [cell("faster", 0.5), cell("slower", -0.1), cell("in_control"), cell("slower", -0.3)];
  expect(changedCells(cells).map(({ state, shift_ratio }) => [state, shift_ratio])).toEqual([
    ["slower", -0.3],
    ["slower", -0.1],
    ["faster", 0.5],
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
