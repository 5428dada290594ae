import { expect, it } from "vitest";
import { figureTable } from "./figureTable";

it("gives a line to each mark, under the titles of the axes", () => {
  const layout = {
    xaxis: { title: { text: "Time (UTC)" } },
    yaxis: { title: { text: "Throughput (MB/s)" } },
  };
  const data = [{ type: "scatter" as const, name: "a", x: ["2026-01-01"], y: [118.5] }];
  expect(figureTable({ data, layout })).toEqual({
    columns: ["Trace", "Time (UTC)", "Throughput (MB/s)"],
    rows: [["a", "2026-01-01", 118.5]],
  });
});

it("names the quantity of each value where there are several vertical axes", () => {
  const layout = { yaxis: { title: { text: "load" } }, yaxis2: { title: { text: "CPU (%)" } } };
  const data = [
    { type: "scatter" as const, name: "a", x: [0], y: [1] },
    { type: "scatter" as const, name: "b", x: [0], y: [50], yaxis: "y2" },
  ];
  expect(figureTable({ data, layout }).rows).toEqual([
    ["a", "load", 0, 1],
    ["b", "CPU (%)", 0, 50],
  ]);
});

it("gives a line to each field of a map", () => {
  const data = [{ type: "heatmap" as const, x: ["1", "2"], y: ["a"], z: [[3, null]] }];
  expect(figureTable({ data: data as never, layout: {} }).rows).toEqual([
    ["", "1", "a", 3],
    ["", "2", "a", null],
  ]);
});
