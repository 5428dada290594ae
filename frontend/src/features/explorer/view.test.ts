import { expect, it } from "vitest";
import type { ExplorerRun } from "@/api/types";
import { placesOf } from "./Sparkline";
import { rowsAround } from "./useRowsInSight";
import { cellsOf, choiceOf, columnsOf, ratioOf, seriesInSight, sortOf, togglePin } from "./view";

function run(id: number, value: number | null, likeness: string | null = "alike", cellId = id): ExplorerRun {
  const headline = value === null ? null : { series_id: 100 + cellId, value };
  return { id, cell_id: cellId, likeness, headline } as unknown as ExplorerRun;
}

it("makes the first pin the baseline, and the next one if it is unpinned", () => {
  expect(togglePin({}, 7)).toEqual({ pins: [7], baseline: 7 });
  expect(togglePin({ pins: [7], baseline: 7 }, 9)).toEqual({ pins: [7, 9], baseline: 7 });
  expect(togglePin({ pins: [7, 9], baseline: 7 }, 7)).toEqual({ pins: [9], baseline: 9 });
  expect(togglePin({ pins: [9], baseline: 9 }, 9)).toEqual({ pins: undefined, baseline: undefined });
});

it("drops the oldest of too many pins, and a baseline dropped with it", () => {
  const pins = Array.from({ length: 8 }, (_, index) => index + 1);
  expect(togglePin({ pins, baseline: 1 }, 9)).toEqual({ pins: [...pins.slice(1), 9], baseline: 2 });
});

it("gives ratios only for runs with the same setup", () => {
  const baseline = run(1, 100);
  expect(ratioOf(run(2, 150), baseline)).toBe(1.5);
  expect(ratioOf(run(2, 150, "other"), baseline)).toBeUndefined();
  expect(ratioOf(run(2, null, null), run(3, null, null))).toBeUndefined();
  expect(ratioOf(run(2, 0), baseline)).toBeUndefined();
  expect(ratioOf(run(2, 150), undefined)).toBeUndefined();
});

it("compares each cell once, the baseline's first", () => {
  expect(cellsOf([run(1, 1, "x", 10), run(2, 1, "x", 20), run(3, 1, "x", 10)], 2)).toEqual([20, 10]);
});

it("sorts by value only within one workload", () => {
  expect(sortOf({ sort: "highest" })).toBe("newest");
  expect(sortOf({ sort: "highest", workload: "dd" })).toBe("highest");
  expect(sortOf({})).toBe("newest");
});

it("shows the ratio column with a baseline, and ignores unknown columns", () => {
  expect(columnsOf({ columns: ["ratio", "nonsense", "state"] })).toEqual(["state"]);
  expect(columnsOf({ columns: ["ratio", "state"], baseline: 1 })).toEqual(["state", "ratio"]);
});

it("requests whole days in the display time zone", () => {
  const { from, to, text } = choiceOf({ from: "2026-11-21", to: "2026-11-21", text: "  " });
  expect(Date.parse(to ?? "") - Date.parse(from ?? "")).toBe(24 * 3600 * 1000 - 1);
  expect(new Date(from ?? "").getHours()).toBe(0);
  expect(text).toBeNull();
  expect(choiceOf({ from: "soon" }).from).toBeNull();
});

it("renders visible rows with some around them, also at the end of the list", () => {
  expect(rowsAround(0, 20, 1000)).toEqual({ first: 0, last: 44 });
  expect(rowsAround(500, 20, 1000)).toEqual({ first: 488, last: 544 });
  expect(rowsAround(996, 20, 1000)).toEqual({ first: 984, last: 1000 });
  expect(rowsAround(996, 20, 3)).toEqual({ first: 2, last: 3 });
  expect(rowsAround(0, 20, 0)).toEqual({ first: 0, last: 0 });
});

it("requests sparklines of visible pages, each series once", () => {
  const pages = [{ items: [run(1, 1, "x", 1), run(2, 1, "x", 1)] }, { items: [run(3, null, null, 3)] }];
  expect(seriesInSight(pages, 0, 2, 2)).toEqual([[101]]);
  expect(seriesInSight(pages, 0, 3, 2)).toEqual([[101], []]);
});

it("scales a sparkline to its range, and draws a level one in the middle", () => {
  expect(placesOf([1, 2]).map(({ y }) => y)).toEqual([21, 3]);
  expect(placesOf([5, 5, 5]).map(({ x, y }) => [x, y])).toEqual([
    [3, 12],
    [48, 12],
    [93, 12],
  ]);
});
