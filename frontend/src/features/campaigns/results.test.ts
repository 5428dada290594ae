import { expect, it } from "vitest";
import type { Cell, CellResult } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { groupResults as groupTitled } from "./results";

const groupResults = (cells: readonly Cell[]) => groupTitled(cells, () => plainTitle);

function result(metric: string, better: string, high: number, labels = {}): CellResult {
  const unit = better === "higher" ? "bytes_per_second" : "seconds";
  return { metric, title: metric.toUpperCase(), better, unit, labels, high } as unknown as CellResult;
}
function cell(ordinal: number, size: number, results: CellResult[]): Cell {
  return {
    ordinal,
    workload: "dd",
    options: { size_bytes: size, direct: false },
    results,
  } as unknown as Cell;
}

it("groups results by workload and metric, rates before times", () => {
  const groups = groupResults([
    cell(0, 1024, [result("elapsed", "lower", 2), result("rate", "higher", 5e6)]),
  ]);
  expect(groups.map(({ title }) => title)).toEqual(["RATE", "ELAPSED"]);
});

it("distinguishes rows by differing options and labels in plan order", () => {
  const operation = (name: string) => result("rate", "higher", 1, { operation: name });
  const [group] = groupResults([
    cell(1, 2048, [operation("write")]),
    cell(0, 1024, [operation("write"), operation("read")]),
  ]);
  expect(group?.rows.map(({ what }) => what)).toEqual([
    "Size 1 KiB, Operation read",
    "Size 1 KiB, Operation write",
    "Size 2 KiB, Operation write",
  ]);
});

it("leaves out cells without results", () => {
  expect(groupResults([cell(0, 1, [])])).toEqual([]);
});

it("describes a single cell by all its options", () => {
  const [group] = groupResults([cell(0, 1024, [result("rate", "higher", 1, { operation: "write" })])]);
  expect(group?.rows[0]?.what).toBe("Size 1 KiB, Direct no, Operation write");
});
