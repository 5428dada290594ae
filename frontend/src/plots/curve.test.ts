import { expect, it } from "vitest";
import { groupsOf } from "./counters";
import { type CurveLine, type CurvePanel, counterTitle, counterUnit, curvesFigure } from "./curve";

it("reads the unit of a counter from its name", () => {
  expect(counterUnit("write_bytes_per_second")).toBe("bytes_per_second");
  expect(counterUnit("reads_per_second")).toBe("operations_per_second");
  expect(counterUnit("cpu_user_ratio")).toBe("ratio");
  expect(counterUnit("dirty_bytes")).toBe("bytes");
  expect(counterUnit("threads")).toBe("count");
  expect(counterTitle("cpu_user_ratio")).toBe("cpu user");
});

function line(values: CurveLine["values"], changes: Partial<CurveLine> = {}): CurveLine {
  return { name: "node-a", firstSecond: 0, kind: 0, stepSeconds: 1, values, range: null, ...changes };
}

function panel(lines: readonly CurveLine[], changes: Partial<CurvePanel> = {}): CurvePanel {
  return { title: "CPU", unit: "ratio", lines, ...changes };
}

it("draws seconds since the start against the counter with its unit", () => {
  const figure = curvesFigure([panel([line([0.5, 1], { stepSeconds: 2, firstSecond: 1 })])], [], "dark");
  expect(figure.data[0]).toMatchObject({ x: [1, 3], y: [50, 100], yaxis: "y" });
  expect(figure.layout.annotations).toMatchObject([{ text: "<b>CPU (%)</b>" }]);
});

it("stacks panels on one time axis without overlap", () => {
  const { data, layout } = curvesFigure(
    [panel([line([1])]), panel([line([1])]), panel([line([1])])],
    [],
    "light",
  );
  expect(data.map((trace) => "yaxis" in trace && trace.yaxis)).toEqual(["y", "y2", "y3"]);
  expect(layout.xaxis?.anchor).toBe("y3");
  const domains = [layout.yaxis, layout.yaxis2, layout.yaxis3].flatMap((axis) => axis?.domain ?? []);
  expect(domains).toHaveLength(6);
  expect(domains[1]).toBe(1);
  expect(domains[4]).toBeCloseTo(0);
  expect(domains[0]).toBeGreaterThan(domains[3] ?? 1);
  expect(domains[2]).toBeGreaterThan(domains[5] ?? 1);
});

it("names a counter of several nodes once", () => {
  const lines = [line([1], { kind: 0 }), line([1], { kind: 0, name: "b" }), line([1], { kind: 1 })];
  const { data } = curvesFigure([panel(lines)], [], "light");
  expect(data.map((trace) => "showlegend" in trace && trace.showlegend)).toEqual([true, false, true]);
});

it("marks the starts of steps, and names those with enough distance", () => {
  const marks = [
    { second: 0, name: "write" },
    { second: 50, name: "read" },
    { second: 51, name: "remove" },
  ];
  const { layout } = curvesFigure([panel([line(Array<number>(100).fill(1))])], marks, "light");
  expect(layout.shapes).toHaveLength(3);
  expect(layout.annotations?.map(({ text }) => text).slice(1)).toEqual(["write", "read"]);
});

it("leaves a gap where nothing was measured", () => {
  const figure = curvesFigure([panel([line([0.5, null, 1])])], [], "light");
  expect(figure.data[0]).toMatchObject({ y: [50, null, 100] });
});

it("makes a value between gaps visible, also in a long curve without dots", () => {
  const figure = curvesFigure([panel([line([...Array<number>(100).fill(0.5), null, 1, null])])], [], "light");
  expect(figure.data[0]).toMatchObject({ mode: "lines+markers" });
  const { marker } = figure.data[0] as { marker: { size: number[] } };
  expect(marker.size.slice(-4)).toEqual([0, 0, 5, 0]);
});

it("draws a long curve without gaps as a line only", () => {
  const figure = curvesFigure([panel([line(Array<number>(100).fill(0.5))])], [], "light");
  expect(figure.data[0]).toMatchObject({ mode: "lines" });
});

it("draws the range behind means as a band, on the scale of its largest value", () => {
  const thinned = line([1e6, 1e6], { stepSeconds: 52, range: { low: [0, 1e6], high: [2e9, 1e6] } });
  const figure = curvesFigure([panel([thinned], { unit: "bytes_per_second" })], [], "light");
  expect(figure.data).toMatchObject([
    { y: [0, 0.001] },
    { y: [2, 0.001], fill: "tonexty" },
    { y: [0.001, 0.001], name: "node-a" },
  ]);
});

it("groups the counters of a run, and shows unknown ones by name", () => {
  const groups = groupsOf(["cpu_user_ratio", "lost_datagrams", "read_bytes_per_second"]);
  expect(groups.map(({ key }) => key)).toEqual(["load", "own", "cpu"]);
  expect(groups[1]?.panels).toMatchObject([
    { title: "Lost datagrams", lines: { lost_datagrams: "lost datagrams" } },
  ]);
});

it("puts every counter of a stream into the panels of its group", () => {
  const counters = [
    ...["sent_bytes", "received_bytes", "missing_datagrams", "dropped_datagrams", "duplicated_datagrams"],
    ...["reordered_datagrams", "late_datagrams"],
  ].map((name) => `stream_${name}_per_second`);
  const groups = groupsOf([...counters, "stream_ring_bytes", "stream_sender_lag_seconds"]);
  expect(groups.map(({ key }) => key)).toEqual(["stream"]);
  expect(groups[0]?.panels.map(({ lines }) => Object.keys(lines).length)).toEqual([2, 2, 3, 1, 1]);
});
