import { afterEach, expect, it } from "vitest";
import { setPreferences } from "@/lib/preferences";
import { figureTable } from "./figureTable";

afterEach(() => setPreferences({ zone: null }));

it("has a row for each mark in base units, with axis titles as columns", () => {
  const layout = {
    xaxis: { title: { text: "Time since the start (s)" } },
    yaxis: { title: { text: "Throughput (MB/s)" } },
  };
  const data = [{ type: "scatter" as const, name: "a", x: [2], y: [118.5] }];
  expect(figureTable({ data, layout })).toEqual({
    columns: ["Trace", "Time since the start [seconds]", "Throughput [bytes_per_second]"],
    rows: [["a", 2, 118_500_000]],
  });
});

it("writes times in UTC in any displayed time zone", () => {
  setPreferences({ zone: "Europe/Berlin" });
  const layout = { xaxis: { type: "date" as const, title: { text: "Time (Europe/Berlin)" } } };
  const data = [{ type: "scatter" as const, name: "a", x: ["2026-01-01T12:00:00.000"], y: [1] }];
  expect(figureTable({ data, layout })).toEqual({
    columns: ["Trace", "Time (UTC)", "y"],
    rows: [["a", "2026-01-01T11:00:00.000Z", 1]],
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
    ["b", "CPU [ratio]", 0, 0.5],
  ]);
});

it("uses the title of a trace if its axis has none", () => {
  const data = [
    { type: "scatter" as const, name: "a", x: [0], y: [2], meta: "Write (GB/s)" },
    { type: "scatter" as const, name: "a", x: [0], y: [50], yaxis: "y2", meta: "CPU (%)" },
  ];
  expect(figureTable({ data, layout: {} }).rows).toEqual([
    ["a", "Write [bytes_per_second]", 0, 2e9],
    ["a", "CPU [ratio]", 0, 0.5],
  ]);
});

it("names the categories of marks next to their centre", () => {
  const layout = { xaxis: { tickvals: [0, 1], ticktext: ["ext4", "xfs"] } };
  const data = [{ type: "bar" as const, name: "A", x: [-0.2, 1.2], y: [1, 2] }];
  expect(figureTable({ data, layout }).rows).toEqual([
    ["A", "ext4", 1],
    ["A", "xfs", 2],
  ]);
});

it("has a row for each cell of a map, in the unit of its colours", () => {
  const data = [
    {
      type: "heatmap" as const,
      ...{ x: ["1", "2"], y: ["a"], z: [[3, null]], colorbar: { title: { text: "GB/s" } } },
    },
  ];
  expect(figureTable({ data: data as never, layout: {} })).toEqual({
    columns: ["Trace", "x", "y", "Value [bytes_per_second]"],
    rows: [
      ["", "1", "a", 3e9],
      ["", "2", "a", null],
    ],
  });
});

it("exports start and end of a bar on a lane", () => {
  const layout = {
    xaxis: { title: { text: "Seconds (s)" } },
    yaxis: { tickvals: [0, 1], ticktext: ["node1", "node2"] },
  };
  const data = [{ type: "bar" as const, name: "writes", base: [2], x: [3], y: [1] }];
  expect(figureTable({ data, layout })).toEqual({
    columns: ["Trace", "Lane", "Seconds [seconds], from", "Seconds [seconds], until"],
    rows: [["writes", "node2", 2, 5]],
  });
});
