import { expect, it } from "vitest";
import type { MetricBoard, Series } from "@/api/types";
import { MAX_TRACES } from "@/plots/figure";
import { selectSeries } from "./selection";

function series(id: number, metric: string, target: string, point_count = 1, variant = ""): Series {
  return { id, metric, target_names: [target], point_count, variant, labels: {} } as unknown as Series;
}
const ids = (rows: readonly Series[]) => rows.map(({ id }) => id);

const ORDER = ["throughput", "elapsed"];
const all = [series(3, "elapsed", "disk"), series(2, "throughput", "shm"), series(1, "throughput", "disk")];

it("starts with the workload's first metric on all targets", () => {
  const selection = selectSeries(all, ORDER, {});
  expect(selection).toMatchObject({
    metric: "throughput",
    metrics: ["throughput", "elapsed"],
    target: undefined,
  });
  expect(ids(selection.drawn)).toEqual([1, 2]);
});

it("follows the address", () => {
  expect(ids(selectSeries(all, ORDER, { metric: "throughput", target: "shm" }).drawn)).toEqual([2]);
  expect(ids(selectSeries(all, ORDER, { series: [2] }).drawn)).toEqual([2]);
});

it("draws the stage variant in the address, or series outside stages", () => {
  const staged = [
    ...all,
    series(4, "throughput", "disk", 1, "xfs"),
    series(5, "throughput", "disk", 1, "ext3"),
  ];
  expect(selectSeries(staged, ORDER, {}).variants).toEqual(["", "ext3", "xfs"]);
  expect(ids(selectSeries(staged, ORDER, { variant: "xfs" }).drawn)).toEqual([4]);
  expect(ids(selectSeries(staged, ORDER, { variant: "" }).drawn)).toEqual([1, 2]);
  expect(ids(selectSeries(staged, ORDER, { variant: "gone" }).drawn)).toEqual([1, 2, 4, 5]);
});

it("ignores unknown names in the address", () => {
  const selection = selectSeries(all, ORDER, { metric: "gone", target: "gone", series: [99] });
  expect(ids(selection.drawn)).toEqual([1, 2]);
});

it("draws the series with most points if there are too many", () => {
  const many = Array.from({ length: 20 }, (_, id) => series(id, "throughput", "disk", id));
  expect(ids(selectSeries(many, ORDER, {}).drawn)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
  expect(selectSeries(many, ORDER, { series: many.map(({ id }) => id) }).drawn).toHaveLength(MAX_TRACES);
});

it("draws only one quantity by default, and what the address asks for", () => {
  const write = { ...series(1, "throughput", "disk", 9), labels: { operation: "write" } };
  const read = { ...series(2, "throughput", "disk", 5), labels: { operation: "read" } };
  expect(ids(selectSeries([write, read], ORDER, {}).drawn)).toEqual([1]);
  expect(ids(selectSeries([write, read], ORDER, { series: [1, 2] }).drawn)).toEqual([1, 2]);
});

function board(metric: string, states: Readonly<Record<number, string>>): MetricBoard {
  const of = (id: string) => ({ series: { id: Number(id) }, state: states[Number(id)] });
  return { metric, series: Object.keys(states).map(of) } as unknown as MetricBoard;
}

it("begins with the quantity of the worst series, not with that of most points", () => {
  const write = { ...series(1, "throughput", "disk", 9), labels: { operation: "write" } };
  const read = { ...series(2, "throughput", "disk", 5), labels: { operation: "read" } };
  const slowReads = board("throughput", { 2: "slower", 1: "in_control" });
  expect(ids(selectSeries([write, read], ORDER, {}, slowReads).drawn)).toEqual([2]);
  expect(ids(selectSeries([write, read], ORDER, { series: [1] }, slowReads).drawn)).toEqual([1]);
  const allWell = board("throughput", { 2: "in_control", 1: "in_control" });
  expect(ids(selectSeries([write, read], ORDER, {}, allWell).drawn)).toEqual([1]);
});

it("begins with the worst metric, and takes the metric of the address or of its series before", () => {
  const slower = board("elapsed", { 3: "slower" });
  expect(selectSeries(all, ORDER, {}, slower).metric).toBe("elapsed");
  expect(selectSeries(all, ORDER, { metric: "throughput" }, slower).metric).toBe("throughput");
  expect(selectSeries(all, ORDER, { series: [3] }).metric).toBe("elapsed");
});

it("draws nothing without series", () => {
  expect(selectSeries([], ORDER, {})).toMatchObject({ metric: "", drawn: [] });
});

it("distinguishes the default selection from the address", () => {
  expect(selectSeries(all, ORDER, {}).isFirstChoice).toBe(true);
  expect(selectSeries(all, ORDER, { series: [99] }).isFirstChoice).toBe(true);
  expect(selectSeries(all, ORDER, { series: [2] }).isFirstChoice).toBe(false);
  expect(selectSeries([], ORDER, {}).isFirstChoice).toBe(false);
});
