import { expect, it } from "vitest";
import { type LaneKind, lanesFigure, lanesHeight } from "./lanes";

const KINDS: readonly LaneKind[] = [
  { key: "waiting", title: "waiting", colour: null, pattern: "", height: 0.1 },
  { key: "running", title: "running", colour: 0, pattern: "/", height: 0.5 },
];
const OPTIONS = { kinds: KINDS, lanes: ["node n1", "node n2"], xTitle: "Time (s)", scheme: "light" } as const;

it("draws one trace per kind with bars on their lanes", () => {
  const bars = [
    { kind: "running", lane: "node n2", from: 3, to: 5, says: ["run 1"] },
    { kind: "running", lane: "node n1", from: 1, to: 2, says: ["run 2"] },
  ];
  const { data } = lanesFigure(bars, OPTIONS);
  expect(data).toHaveLength(1);
  expect(data[0]).toMatchObject({
    name: "running",
    base: [3, 1],
    x: [2, 1],
    y: [1, 0],
    text: ["run 1", "run 2"],
  });
});

it("names every lane from the top, including empty ones", () => {
  const { layout } = lanesFigure([], OPTIONS);
  expect(layout.yaxis).toMatchObject({ ticktext: ["node n1", "node n2"], range: [1.5, -0.5] });
  expect(layout.xaxis?.title).toEqual({ text: "Time (s)" });
});

it("leaves out bars of lanes that are not drawn", () => {
  const { data } = lanesFigure([{ kind: "running", lane: "node n9", from: 0, to: 1, says: [] }], OPTIONS);
  expect(data).toEqual([]);
});

it("distinguishes kinds by pattern, too", () => {
  const { data } = lanesFigure([{ kind: "running", lane: "node n1", from: 0, to: 1, says: [] }], OPTIONS);
  expect(data[0]).toMatchObject({ marker: { pattern: { shape: "/" } } });
});

it("converts times with the given function", () => {
  const bars = [{ kind: "running", lane: "node n1", from: 1000, to: 4000, says: [] }];
  const { data, layout } = lanesFigure(bars, { ...OPTIONS, timeOf: (at) => `at ${at}` });
  expect(data[0]).toMatchObject({ base: ["at 1000"], x: [3000] });
  expect(layout.xaxis?.type).toBe("date");
});

it("shows the part of the axis that was chosen", () => {
  const range = ["2026-11-21T10:00", "2026-11-21T11:00"] as const;
  expect(lanesFigure([], { ...OPTIONS, timeOf: String, range }).layout.xaxis?.range).toEqual(range);
  expect(lanesFigure([], OPTIONS).layout.xaxis).not.toHaveProperty("range");
});

it("grows with its lanes, and with the rows of its legend", () => {
  expect(lanesHeight(10)).toBeGreaterThan(lanesHeight(2));
  expect(lanesHeight(2, 8)).toBeGreaterThan(lanesHeight(2, 1) + 7 * 20);
});
