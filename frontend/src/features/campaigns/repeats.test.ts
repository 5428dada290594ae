import { expect, it } from "vitest";
import type { Campaign, Cell } from "@/api/types";
import { cellsWithFew, repeatsWanted, runsOf } from "./results";

const ended = { state: "finished" } as Campaign;
const running = { state: "active" } as Campaign;

function cell(runs: number, ...counted: number[]): Cell {
  return {
    runs: Array.from({ length: runs }, (_, run) => run),
    results: counted.map((n) => ({ n })),
  } as unknown as Cell;
}

it("counts valid runs of an ended campaign and planned runs of an open one", () => {
  expect(runsOf(cell(4, 3, 2), ended)).toBe(3);
  expect(runsOf(cell(4, 3, 2), running)).toBe(4);
  expect(runsOf(cell(4), ended)).toBe(0);
});

it("finds the cells without an interval", () => {
  const [one, four] = [cell(1, 1), cell(4, 4)];
  expect(cellsWithFew([one, four], ended)).toEqual([one]);
});

it("proposes the largest number missing, at least one", () => {
  expect(repeatsWanted([cell(1, 1), cell(3, 3)], ended)).toBe(3);
  expect(repeatsWanted([cell(4, 4)], ended)).toBe(1);
  expect(repeatsWanted([], ended)).toBe(1);
});
