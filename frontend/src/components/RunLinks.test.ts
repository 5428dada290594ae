import { expect, it } from "vitest";
import { runSpans } from "./RunLinks";

it("joins consecutive runs", () => {
  expect(runSpans([5, 3, 4, 9])).toEqual([
    [3, 5],
    [9, 9],
  ]);
  expect(runSpans([])).toEqual([]);
});

it("counts a run once", () => {
  expect(runSpans([2, 2, 3])).toEqual([[2, 3]]);
});
