import { expect, it } from "vitest";
import type { CampaignMeasures, Cell, CellResult } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { groupResults as groupTitled, resultsTable, splitPrimary, surfaceSource } from "./results";

const groupResults = (cells: readonly Cell[]) => groupTitled(cells, () => plainTitle);

function result(metric: string, better: string, high: number, labels = {}): CellResult {
  const unit = better === "higher" ? "bytes_per_second" : "seconds";
  return { metric, title: metric.toUpperCase(), better, unit, labels, high } as unknown as CellResult;
}
function cell(ordinal: number, size: number, results: CellResult[]): Cell {
  return {
    id: ordinal,
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

const metric = (name: string, is_primary: boolean) =>
  ({ workload: "dd", metric: name, is_primary }) as CampaignMeasures["metrics"][number];

it("folds metrics that are not primary, and those of single writers if there is a total", () => {
  const metrics = [metric("total", true), metric("rate", true), metric("elapsed", false)];
  const names = (results: CellResult[], known = metrics) => {
    const { primary, others } = splitPrimary(groupResults([cell(0, 1, results)]), known);
    return [primary, others].map((groups) => groups.map((group) => group.metric));
  };
  const ofWriter = result("rate", "higher", 1, { writer: 1 });
  const elapsed = result("elapsed", "lower", 1);
  expect(names([result("rate", "higher", 1), elapsed])).toEqual([["rate"], ["elapsed"]]);
  expect(names([result("total", "higher", 1), ofWriter])).toEqual([["total"], ["rate"]]);
  expect(names([ofWriter, elapsed])).toEqual([["rate"], ["elapsed"]]);
  expect(names([elapsed], [])).toEqual([["elapsed"], []]);
});

it("counts single writers only in the cells that have no total", () => {
  const ofWriter = result("rate", "higher", 1, { writer: 1 });
  const cells = [cell(0, 1, [result("total", "higher", 1), ofWriter]), cell(1, 2, [ofWriter])];
  const { primary, others } = splitPrimary(groupResults(cells), [
    metric("total", true),
    metric("rate", true),
  ]);
  const ordinals = (groups: readonly { metric: string; rows: readonly { cell: Cell }[] }[]) =>
    groups.map((group) => [group.metric, group.rows.map((row) => row.cell.ordinal)]);
  expect(ordinals(primary)).toEqual([
    ["total", [0]],
    ["rate", [1]],
  ]);
  expect(ordinals(others)).toEqual([["rate", [0]]]);
});

it("exports a row for each value with its parameters, range, count and unit", () => {
  const one = {
    ...result("rate", "higher", 3, { operation: "write" }),
    ...{ median: 2, low: 1, n: 4, variation_ratio: 0.1, flags: ["ZEROES"] },
  };
  const place = { node_names: ["n1"], target_names: ["disk"], variant: "", counted_runs: [5, 6] };
  const [group] = groupResults([{ ...cell(0, 1024, [one]), ...place }]);
  if (!group) throw new Error("no group");
  const { columns, rows } = resultsTable(group);
  expect(Object.fromEntries(columns.map((name, at) => [name, rows[0]?.[at]]))).toEqual({
    ...{ cell: 0, nodes: "n1", targets: "disk", variant: null, workload: "dd", metric: "rate" },
    ...{ option_size_bytes: 1024, option_direct: false, label_operation: "write" },
    ...{ value: 2, low: 1, high: 3, n: 4, variation_ratio: 0.1, unit: "bytes_per_second" },
    ...{ flags: "ZEROES", run_ids: "5 6" },
  });
});

it("finds the surface of a matrix of sizes and of a sweep of both, and none of one size", () => {
  const sized = (file_size_bytes: number, record_size_bytes: number) =>
    result("rate", "higher", 1, { file_size_bytes, record_size_bytes });
  const source = (cells: readonly Cell[]) => groupResults(cells).map((group) => surfaceSource(group, 7));
  expect(source([cell(3, 1, [sized(1, 1), sized(2, 2)])])).toEqual(["campaign-7.3"]);
  expect(source([cell(3, 1, [sized(1, 1), sized(2, 1)])])).toEqual([null]);
  const swept = [1, 2].map((size) => ({
    ...cell(size, 1, [result("rate", "higher", 1)]),
    options: { file_size_bytes: size, block_size_bytes: size },
  }));
  expect(source(swept)).toEqual(["campaign-7"]);
});
