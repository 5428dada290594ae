import { expect, it } from "vitest";
import type { Points, Series, SeriesAnalysis } from "@/api/types";
import { subjectPanels, subjectSince, subjectStatus } from "./subject";

const SINCE = Date.parse("2026-09-01T00:00:00Z");
const SERIES = {
  id: 1,
  workload: "dd",
  metric: "throughput",
  title: "Throughput",
  better: "higher",
  labels: { operation: "write" },
  superseded: null,
  point_count: 20,
  last_at: "2026-11-20T00:00:00Z",
} as unknown as Series;

function series(id: number, more: object = {}): Series {
  return { ...SERIES, id, ...more } as Series;
}

function analysis(id: number, more: object = {}): [number, SeriesAnalysis] {
  return [
    id,
    { series_id: id, course: "steady", changes: [], drift: null, ...more } as unknown as SeriesAnalysis,
  ];
}

const DROP = {
  at: "2026-09-07T10:00:00Z",
  shift_ratio: -0.12,
  direction: "worse",
  confirmed_at: "2026-09-09T10:00:00Z",
  ended_at: null,
  is_over: false,
};

it("shows rates before durations, and no series of single writers", () => {
  const duration = series(2, { metric: "duration", better: "lower", point_count: 900 });
  const writer = series(3, { labels: { writer: 1 } });
  const { panels } = subjectPanels([duration, writer, SERIES], SINCE);
  expect(panels.map(({ workload, series: own }) => [workload, own.map(({ id }) => id)])).toEqual([
    ["dd", [1]],
  ]);
});

it("draws reads and writes in a chart each", () => {
  const read = series(2, { labels: { operation: "read" } });
  const { panels } = subjectPanels([SERIES, read], SINCE);
  expect(panels.map(({ title, series: own }) => [title, own.map(({ id }) => id)])).toEqual([
    ["Throughput, write", [1]],
    ["Throughput, read", [2]],
  ]);
});

it("draws four charts of a workload, and names the others", () => {
  const many = ["a", "b", "c", "d", "e"].map((operation, place) =>
    series(place + 1, { labels: { operation } }),
  );
  const { panels, hidden } = subjectPanels(many, SINCE);
  expect([panels.length, hidden]).toEqual([4, ["dd: Throughput, e"]]);
});

it("names workloads without points in the period instead of drawing nothing", () => {
  const old = series(2, { workload: "bonnie", last_at: "2026-05-03T00:00:00Z" });
  expect(subjectPanels([old, SERIES], SINCE).old).toEqual([
    { workload: "bonnie", lastAt: "2026-05-03T00:00:00Z" },
  ]);
});

it("says how many series of a workload are left out", () => {
  const { panels } = subjectPanels(
    [1, 2, 3, 4, 5, 6].map((id) => series(id)),
    SINCE,
  );
  expect(panels[0]?.series).toHaveLength(4);
  expect(panels[0]?.leftOut).toBe(2);
});

it("keeps the period for a day, so that requests are not repeated", () => {
  const noon = Date.parse("2026-11-29T12:00:00Z");
  expect(subjectSince(noon)).toBe(subjectSince(noon + 3_600_000));
  expect(new Date(subjectSince(noon)).toISOString()).toBe("2026-08-31T00:00:00.000Z");
});

it("names the largest open regression, and ignores recovered and unconfirmed ones", () => {
  const recovered = { ...DROP, shift_ratio: -0.5, ended_at: "2026-09-20T00:00:00Z" };
  const unconfirmed = { ...DROP, shift_ratio: -0.4, confirmed_at: null };
  const analyses = new Map([analysis(1, { course: "changed", changes: [DROP, recovered, unconfirmed] })]);
  const { regressions } = subjectStatus([SERIES], analyses, []);
  expect(regressions.map(({ words }) => words)).toEqual(["−12.0 % since 7 Sep 2026"]);
});

it("counts a gradual decline as worse, and a wave or an improvement not", () => {
  const drift = { shape: "line", start: 100, end: 70, shift_ratio: -0.3, start_at: "2026-05-31T00:00:00Z" };
  const status = (more: object) =>
    subjectStatus([SERIES], new Map([analysis(1, { course: "drift", drift: { ...drift, ...more } })]), []);
  expect(status({}).regressions[0]?.words).toBe("−30.0 % gradually since 31 May 2026");
  expect(status({ shape: "wave" }).regressions).toEqual([]);
  expect(status({ end: 130, shift_ratio: 0.3 }).regressions).toEqual([]);
});

it("never calls a series good that has too few points or no new data", () => {
  const analyses = new Map([analysis(1), analysis(2, { course: "too_short" })]);
  const gap = { since: "2026-10-25T00:00:00Z", until: null };
  const points = [{ gaps: [gap] }] as unknown as Points[];
  expect(subjectStatus([SERIES, series(2)], analyses, points).others).toEqual([
    "1 of 2 series without an open regression",
    "1 of 2 series with too few points",
    "1 series without data since 25 Oct 2026",
  ]);
});
