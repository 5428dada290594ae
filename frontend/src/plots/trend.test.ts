import { expect, it } from "vitest";
import { localTime, timeZone } from "@/lib/time";
import { type TrendLine, type TrendOptions, trendFigure } from "./trend";

const line: TrendLine = {
  name: "disk write",
  at: ["2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z"],
  median: [100e6, 200e6],
  low: [90e6, 200e6],
  high: [120e6, 200e6],
  n: [4, 1],
  cellId: [11, 12],
  flags: [["CACHE_SIZE"], []],
  changedAt: [],
};
const options: TrendOptions = {
  metricTitle: "Throughput",
  unit: "bytes_per_second",
  fromZero: true,
  chosenCellId: 12,
  scheme: "light",
};

it("draws one dot a point at the median, with whiskers over the range of its runs", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    x: line.at.map(localTime),
    y: [100, 200],
    error_y: { array: [20, 0], arrayminus: [10, 0] },
  });
});

it("names metric and unit on the axis, in the scale of the largest value", () => {
  expect(trendFigure([line], options).layout.yaxis?.title).toEqual({ text: "Throughput (MB/s)" });
});

it("draws times on the reader's clock and names its zone, as plotly itself knows none", () => {
  expect(trendFigure([line], options).layout.xaxis?.title).toEqual({
    text: `Start of the cell's first run (${timeZone()})`,
  });
});

it("gives a lone point half an hour of room on both sides, and leaves the range of a history to plotly", () => {
  const lone = { ...line, at: line.at.slice(0, 1) };
  expect(trendFigure([lone], options).layout.xaxis?.range).toEqual(
    ["2026-11-20T09:30:00Z", "2026-11-20T10:30:00Z"].map(localTime),
  );
  expect(trendFigure([line], options).layout.xaxis?.range).toBeUndefined();
});

it("gives all lines one scale", () => {
  const slow = {
    ...line,
    median: [50e3],
    low: [50e3],
    high: [50e3],
    at: line.at.slice(1),
    n: [4],
    cellId: [13],
    flags: [[]],
  };
  expect(trendFigure([line, slow], options).data[1]).toMatchObject({ y: [0.05] });
});

it("says how many runs a dot stands for and makes the chosen one larger", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    text: ["median of 4 runs, CACHE_SIZE", "1 run"],
    marker: { size: [8, 14] },
  });
});

it("draws a flagged dot hollow", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    marker: { symbol: ["circle-open", "circle"] },
  });
});

it("draws nothing, but axes, for a series without points", () => {
  const empty = { ...line, at: [], median: [], low: [], high: [], n: [], cellId: [], flags: [] };
  expect(trendFigure([empty], options).data[0]).toMatchObject({ x: [], y: [] });
});

it("marks where a series changed by a line in its own colour", () => {
  const changed = { ...line, changedAt: [line.at[1] ?? ""] };
  const { shapes } = trendFigure([line, changed], options).layout;
  expect(shapes).toHaveLength(1);
  expect(shapes?.[0]).toMatchObject({ x0: localTime("2026-11-21T10:00:00Z"), yref: "paper", y0: 0, y1: 1 });
});
