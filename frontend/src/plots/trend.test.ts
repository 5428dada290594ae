import { expect, it } from "vitest";
import { localTime, shownTimeZone } from "@/lib/time";
import { laneOf } from "./chartEvents";
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
  usual: [[], []],
  changes: [],
  gaps: [],
};
const options: TrendOptions = {
  metricTitle: "Throughput",
  unit: "bytes_per_second",
  fromZero: true,
  chosenCellId: 12,
  scheme: "light",
  end: Date.parse("2026-11-27T10:00:00Z"),
};

it("draws each point at the median, with whiskers over the range of its runs", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    x: line.at.map(localTime),
    y: [100, 200],
    error_y: { array: [20, 0], arrayminus: [10, 0] },
  });
});

it("names metric and unit on the axis, in the scale of the largest value", () => {
  expect(trendFigure([line], options).layout.yaxis?.title).toEqual({ text: "Throughput (MB/s)" });
});

it("names the displayed time zone and the end date on the axis", () => {
  expect(trendFigure([line], options).layout.xaxis?.title).toEqual({
    text: `Time (${shownTimeZone()}), until 27 Nov 2026`,
  });
  const span = { from: "2026-11-01T00:00:00Z", to: "2026-11-08T12:00:00Z" };
  const { title } = trendFigure([line], { ...options, span }).layout.xaxis ?? {};
  expect(title).toEqual({
    text: `Time (${shownTimeZone()}), until 8 Nov 2026`,
  });
});

it("ends its axis now even if the last point is old, and shades gaps", () => {
  const gap = { since: line.at[1] ?? "", until: null };
  const { xaxis, shapes } = trendFigure([{ ...line, gaps: [gap] }], options).layout;
  expect(String(xaxis?.range?.[1]) >= localTime(options.end)).toBe(true);
  expect(shapes?.[0]).toMatchObject({
    x0: localTime(gap.since),
    x1: localTime(options.end),
    label: { text: "no data 21 Nov 2026 – today" },
  });
});

it("draws the line of a gradual change with its relative size", () => {
  const [startAt = "", endAt = ""] = line.at;
  const path = [
    { at: startAt, value: 13_127e6 },
    { at: endAt, value: 9_101e6 },
  ];
  const drift = { shape: "line", path } as const;
  const { shapes } = trendFigure([{ ...line, drift, high: [14e9, 14e9] }], options).layout;
  expect(shapes).toEqual([
    expect.objectContaining({
      x0: localTime(startAt),
      x1: localTime(endAt),
      y0: 13.127,
      y1: 9.101,
      label: expect.objectContaining({ text: "−30.7 %" }),
    }),
  ]);
});

it("draws a curve in parts with its size in the middle, and a wave without one", () => {
  const [startAt = "", endAt = ""] = line.at;
  const path = [100, 80, 75, 74].map((value, place) => ({ at: place < 2 ? startAt : endAt, value }));
  const shapesOf = (shape: "curve" | "wave") =>
    trendFigure([{ ...line, drift: { shape, path } }], options).layout.shapes ?? [];
  expect(shapesOf("curve").map(({ label }) => label?.text)).toEqual([undefined, "−26.0 %", undefined]);
  expect(shapesOf("wave").map(({ label }) => label?.text)).toEqual([undefined, undefined, undefined]);
});

it("marks failed runs by a red tick with their count", () => {
  const failed = {
    lane: "Failures",
    at: "2026-11-21T09:00:00Z",
    words: "3 runs failed: no space left",
  } as const;
  const marks = [{ ...failed, isBetter: null, isChosen: false, count: 3 }];
  const { data, layout } = trendFigure([line], { ...options, marks });
  expect(data[1]).toMatchObject({
    y: ["Failures"],
    text: ["3"],
    hovertext: ["3 runs failed: no space left"],
    marker: { symbol: ["line-ns-open"], color: ["#c92a2a"] },
  });
  expect(layout.yaxis2?.categoryarray).toEqual(["Failures"]);
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
    usual: [[]],
  };
  expect(trendFigure([line, slow], options).data[1]).toMatchObject({ y: [0.05] });
});

it("shows the number of runs of a point and enlarges the selected one", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    text: ["median of 4 runs, May be cached", "1 run"],
    marker: { size: [8, 14] },
  });
});

it("draws a flagged dot hollow", () => {
  expect(trendFigure([line], options).data[0]).toMatchObject({
    marker: { symbol: ["circle-open", "circle"] },
  });
});

it("draws only axes for a series without points", () => {
  const empty = { ...line, at: [], median: [], low: [], high: [], n: [], cellId: [], flags: [], usual: [] };
  expect(trendFigure([empty], options).data[0]).toMatchObject({ x: [], y: [] });
});

const CHANGE = {
  at: "2026-11-21T10:00:00Z",
  previousAt: "2026-11-20T10:00:00Z",
  words: "50.0 % lower, worse (9 points after, 30 before)",
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

it("shows the requested span, and zooms only the time axis", () => {
  const span = { from: "2026-11-01T00:00:00Z", to: "2026-11-08T00:00:00Z" };
  const { xaxis, yaxis } = trendFigure([line], { ...options, span }).layout;
  expect(xaxis?.range).toEqual([span.from, span.to].map(localTime));
  expect(yaxis?.fixedrange).toBe(true);
});

it("draws events in lanes on the same time axis", () => {
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

it("separates events of users, releases and other environment changes", () => {
  expect(laneOf({ kind: "manual", text: "kernel: new" })).toBe("People");
  expect(laneOf({ kind: "environment", text: "mount.options: rw -> ro; tool.version: 3.1 -> 3.2" })).toBe(
    "Releases",
  );
  expect(laneOf({ kind: "environment", text: "mount.options: rw -> rw,noatime" })).toBe("Environment");
});

it("labels a change with size and cause, and leaves room for the label above the points", () => {
  const changed = { ...line, changes: [{ ...CHANGE, cause: "OST0007 taken out of service" }] };
  const { annotations, yaxis } = trendFigure([changed], options).layout;
  expect(annotations).toEqual([
    expect.objectContaining({ x: localTime(CHANGE.at), text: "−50.0 %, OST0007 taken out of service" }),
  ]);
  expect(Number(yaxis?.range?.[1])).toBeGreaterThan(200 * 1.05);
  expect(trendFigure([line], options).layout.yaxis?.range).toBeUndefined();
});

it("shades a drop until its recovery, and two compared ranges with their names", () => {
  const incidents = [{ since: line.at[0] ?? "", until: line.at[1] ?? "" }];
  const ranges = {
    a: { from: "2026-11-01T00:00:00Z", to: "2026-11-05T00:00:00Z" },
    b: { from: "2026-11-20T00:00:00Z", to: "2026-11-25T00:00:00Z" },
  };
  const { shapes = [] } = trendFigure(
    [
      { ...line, incidents },
      { ...line, incidents },
    ],
    {
      ...options,
      ranges,
    },
  ).layout;
  expect(shapes.map(({ x0, x1, label }) => [x0, x1, label?.text])).toEqual([
    [localTime(ranges.a.from), localTime(ranges.a.to), "A"],
    [localTime(ranges.b.from), localTime(ranges.b.to), "B"],
    [localTime(line.at[0] ?? ""), localTime(line.at[1] ?? ""), undefined],
  ]);
});
