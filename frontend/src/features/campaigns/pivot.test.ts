import { expect, it } from "vitest";
import type { Cell, CellResult } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { pivotOf } from "./pivot";
import { groupResults } from "./results";

interface Given {
  readonly target?: string;
  readonly node?: string;
  readonly variant?: string;
  readonly options?: object;
  readonly labels?: object;
  readonly better?: string;
}

let next = 1;

/** A cell with one value. */
function cell(median: number, given: Given = {}): Cell {
  const {
    target = "disk",
    node = "node07",
    variant = "",
    options = {},
    labels = {},
    better = "higher",
  } = given;
  const id = next++;
  const result = {
    series_id: id,
    metric: "rate",
    title: "Rate",
    better,
    labels,
    median,
  } as unknown as CellResult;
  const place = { target_names: [target], node_names: [node], variant };
  return { id, ordinal: id, workload: "dd", options, results: [result], ...place } as unknown as Cell;
}

function pivot(...cells: readonly Cell[]) {
  const [group] = groupResults(cells);
  if (!group) throw new Error("no group");
  const { columns, rows, largest } = pivotOf(group, plainTitle);
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map(({ name, values }) => [
      name,
      ...values.map((own) => own.map(({ result }) => result.median).join(" and ")),
    ]),
    parts: rows[0]?.values[0]?.[0]?.parts.map(({ labels }) => labels.part),
    largest,
  };
}

const write = { labels: { operation: "write" } };
const read = { labels: { operation: "read" } };

it("has a column for each target and a row for each set of parameters, best first", () => {
  const { columns, rows } = pivot(
    cell(1, { ...write, target: "disk" }),
    cell(3, { ...write, target: "shm" }),
    cell(2, { ...read, target: "disk" }),
    cell(6, { ...read, target: "shm" }),
  );
  expect(columns).toEqual(["shm", "disk"]);
  expect(rows).toEqual([
    ["read", "6", "2"],
    ["write", "3", "1"],
  ]);
});

it("puts the lowest first where lower is better, and keeps the plan's order where nothing is", () => {
  const both = (better: string) =>
    pivot(
      cell(5, { target: "a", better }),
      cell(2, { target: "b", better }),
      cell(9, { target: "c", better }),
    );
  expect(both("lower").columns).toEqual(["b", "a", "c"]);
  expect(both("neither").columns).toEqual(["a", "b", "c"]);
});

it("has a column for each node of one target, and for each variant of one node", () => {
  expect(pivot(cell(2, { node: "n1" }), cell(1, { node: "n2" })).columns).toEqual(["n1", "n2"]);
  expect(pivot(cell(2, { variant: "xfs" }), cell(1, { variant: "ext4" })).columns).toEqual(["xfs", "ext4"]);
});

it("has a column for each pair of target and node if these are few, else a row for each node", () => {
  const on = (nodes: readonly string[]) =>
    pivot(...nodes.flatMap((node) => ["a", "b"].map((target) => cell(1, { target, node }))));
  expect(on(["n1", "n2"]).columns).toEqual(["a, n1", "b, n1", "a, n2", "b, n2"]);
  const many = on(["n1", "n2", "n3"]);
  expect(many.columns).toEqual(["a", "b"]);
  expect(many.rows.map(([name]) => name)).toEqual(["n1", "n2", "n3"]);
});

it("has one column and a row for each node where these are too many for columns", () => {
  const nodes = Array.from({ length: 9 }, (_, at) => `n${at + 1}`);
  const { columns, rows } = pivot(...nodes.map((node) => cell(1, { node })));
  expect(columns).toEqual(["disk"]);
  expect(rows.map(([name]) => name)).toEqual(nodes);
});

it("keeps values of different options apart, also if each target has its own", () => {
  const { rows } = pivot(
    cell(2, { target: "a", options: { size_bytes: 1024 } }),
    cell(1, { target: "b", options: { size_bytes: 2048 } }),
  );
  expect(rows).toEqual([
    ["Size 1 KiB", "2", ""],
    ["Size 2 KiB", "", "1"],
  ]);
});

it("shows every value of a configuration that the plan has twice", () => {
  expect(pivot(cell(1, write), cell(2, write)).rows).toEqual([["write", "1 and 2"]]);
});

it("names a single row by what was measured", () => {
  const { rows } = pivot(cell(1, { ...write, options: { direct: true } }));
  expect(rows).toEqual([["write", "1"]]);
});

it("joins the parts of a duration to one value as long as the longest sum", () => {
  const base = cell(0, { better: "lower" });
  const seconds = { wait: 3, real: 4, user: 2, sys: 1 };
  const results = Object.entries(seconds).map(
    ([part, median], at) =>
      ({ ...base.results[0], series_id: at, median, labels: { operation: "write", part } }) as CellResult,
  );
  const { rows, parts, largest } = pivot({ ...base, results });
  expect(rows).toEqual([["write", "4"]]);
  expect(parts).toEqual(["user", "sys", "wait"]);
  expect(largest).toBe(6);
});

it("keeps parts of a duration that has no total", () => {
  const base = cell(0, { better: "lower" });
  const results = ["user", "sys"].map(
    (part, at) => ({ ...base.results[0], series_id: at, median: at + 1, labels: { part } }) as CellResult,
  );
  expect(pivot({ ...base, results }).rows).toEqual([
    ["Part user", "1"],
    ["Part sys", "2"],
  ]);
});
