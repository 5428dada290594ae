import { expect, it } from "vitest";
import { localTime, shownTimeZone } from "@/lib/time";
import { laneOf } from "./happenings";
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
  changes: [],
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
    text: `Start of the cell's first run (${shownTimeZone()})`,
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

const CHANGE = {
  at: "2026-11-21T10:00:00Z",
  previousAt: "2026-11-20T10:00:00Z",
  words: "50.0 % lower, worse: 9 points against 30 before",
  before: 200e6,
  after: 100e6,
};

it("marks where a series changed by a line in its own colour, and the levels on both sides", () => {
  const { shapes = [] } = trendFigure([line, { ...line, changes: [CHANGE] }], options).layout;
  expect(shapes).toHaveLength(3);
  expect(shapes[0]).toMatchObject({ x0: localTime(CHANGE.at), yref: "paper", y0: 0, y1: 1 });
  expect(shapes.slice(1).map(({ x0, x1, y0, y1 }) => [x0, x1, y0, y1])).toEqual([
    [localTime(line.at[0] ?? ""), localTime(CHANGE.previousAt), 200, 200],
    [localTime(CHANGE.at), localTime(line.at[1] ?? ""), 100, 100],
  ]);
});

it("shows the span that was asked for, and lets only time be zoomed", () => {
  const span = ["2026-11-01T00:00:00Z", "2026-11-08T00:00:00Z"] as const;
  const { xaxis, yaxis } = trendFigure([line], { ...options, span }).layout;
  expect(xaxis?.range).toEqual(span.map(localTime));
  expect(yaxis?.fixedrange).toBe(true);
});

it("puts what happened into lanes on the same axis of time, one trace behind the lines", () => {
  const event = { kind: "environment", text: "kernel.release: 6.1 -> 6.2" };
  const marks = [
    { lane: laneOf(event), at: "2026-11-21T09:00:00Z", words: event.text, isBetter: null, isChosen: true },
    { lane: "Changes" as const, at: CHANGE.at, words: CHANGE.words, isBetter: false, isChosen: false },
  ];
  const { data, layout } = trendFigure([line], { ...options, marks });
  expect(data[1]).toMatchObject({
    x: marks.map(({ at }) => localTime(at)),
    y: ["Releases", "Changes"],
    yaxis: "y2",
    marker: { size: [14, 10] },
  });
  expect(layout.yaxis2?.categoryarray).toEqual(["Releases", "Changes"]);
  expect(layout.xaxis?.anchor).toBe("y2");
});

it("tells people, releases and other changes of the environment apart", () => {
  expect(laneOf({ kind: "manual", text: "kernel: new" })).toBe("People");
  expect(laneOf({ kind: "environment", text: "mount.options: rw -> ro; tool.version: 3.1 -> 3.2" })).toBe(
    "Releases",
  );
  expect(laneOf({ kind: "environment", text: "mount.options: rw -> rw,noatime" })).toBe("Environment");
});
