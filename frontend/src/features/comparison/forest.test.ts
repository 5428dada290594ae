import { expect, it } from "vitest";
import { plainTitle } from "@/lib/options";
import type { Compared } from "./compared";
import { countsOf, countWords, forestOf, ticksOf } from "./forest";

const VERDICT = { verdict: "higher", ratio: 2, low: 1.5, high: 2.5, median_ratio: 2, basis: "runs" };
const NUMBERS = { n: 4, flags: [] };
const METRIC = {
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  is_primary: true,
  labels: { operation: "write" },
  target_name: null,
  numbers: [NUMBERS, NUMBERS],
};

function forest(...metrics: object[]) {
  const cells = [{ is_alike: true }, { is_alike: true }];
  const all = metrics.map((more) => ({ ...METRIC, verdicts: [null, VERDICT], ...more }));
  const row = { name: "dd", workload: "dd", cells, metrics: all };
  return forestOf({ names: ["ext4", "xfs"], against: 0, rows: [row] } as unknown as Compared, plainTitle);
}

function of(verdict: object, more: object = {}) {
  return { verdicts: [null, { ...VERDICT, ...verdict }], ...more };
}

it("has all primary metrics, best first, and those without a ratio last", () => {
  const none = { verdict: "two_modes", ratio: null, low: null, high: null, median_ratio: null };
  const found = forest(
    of(none, { labels: { operation: "a" } }),
    of({ verdict: "lower", ratio: 0.5, low: 0.4, high: 0.6 }, { labels: { operation: "b" } }),
    of({}, { labels: { operation: "c" } }),
    of({}, { is_primary: false, labels: { operation: "d" } }),
  );
  expect(found.rows.map(({ name }) => name)).toEqual(["c", "b", "a"]);
});

it("draws a lower duration to the right, and writes its own ratio", () => {
  const shorter = { verdict: "lower", ratio: 0.5, low: 0.4, high: 0.8 };
  const [row] = forest(of(shorter, { better: "lower", metric: "duration", title: "Duration" })).rows;
  expect(row?.drawn).toEqual({ ratio: 2, low: 1.25, high: 2.5 });
  expect(row?.interval?.ratio).toBe(0.5);
  expect(row?.judged.direction).toBe("better");
});

it("counts what is better, worse, not shown to differ, and without a verdict", () => {
  const counts = countsOf(
    forest(
      of({}),
      of({ verdict: "lower", ratio: 0.5, low: 0.4, high: 0.6 }),
      of({ verdict: "no_difference_shown", ratio: 1.1, low: 0.9, high: 1.3 }),
      of({ verdict: "few_runs", ratio: null, low: null, high: null }),
    ),
  );
  expect(counts.map(countWords)).toEqual([
    "1 better, 1 worse, 1 no significant difference, 1 without a verdict",
  ]);
});

it("puts ratios with too few runs behind those with an interval", () => {
  const few = { verdict: "few_runs", ratio: null, low: null, high: null, median_ratio: 9 };
  const found = forest(of(few, { labels: { operation: "few" } }), of({}, { labels: { operation: "sure" } }));
  expect(found.rows.map(({ name }) => name)).toEqual(["sure", "few"]);
});

it("has ticks that lie on the axis", () => {
  for (const reach of [1.12, 2, 4, 8, 32]) expect(Math.max(...ticksOf(reach))).toBeLessThan(reach);
});
