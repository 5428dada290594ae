import { expect, it } from "vitest";
import type { CellTrend } from "@/api/types";
import { CURVE, curveOf } from "./curve";

const DAY = 86_400;

function trend(days: readonly number[], medians: number[], more: Partial<CellTrend> = {}): CellTrend {
  return { at_seconds: days.map((day) => day * DAY), medians, levels: [], changes_seconds: [], ...more };
}

it("draws nothing without points", () => {
  expect(curveOf(trend([], []), 90 * DAY)).toBeNull();
});

it("ends where the data ends, so that missing days up to now show", () => {
  const curve = curveOf(trend([0, 15, 30, 45], [1, 2, 1, 2]), 90 * DAY);
  const xs = curve?.parts[0]?.split(" ").map((place) => Number(place.split(",")[0]));
  expect(xs?.[0]).toBe(0);
  expect(xs?.at(-1)).toBe(CURVE.width / 2);
});

it("breaks the line at a gap", () => {
  const curve = curveOf(trend([0, 1, 2, 3, 60, 61], [1, 1, 1, 1, 1, 1]), 90 * DAY);
  expect(curve?.parts.map((points) => points.split(" ").length)).toEqual([4, 2]);
});

it("draws noise of 2 % flat and a drop of half over the whole height", () => {
  const heights = (medians: number[]) => {
    const places = curveOf(trend([0, 1], medians), 90 * DAY)?.parts[0]?.split(" ") ?? [];
    const ys = places.map((place) => Number(place.split(",")[1]));
    return Math.abs((ys[0] ?? 0) - (ys[1] ?? 0));
  };
  expect(heights([100, 98])).toBeLessThan(CURVE.height / 8);
  expect(heights([100, 50])).toBeGreaterThan(CURVE.height / 2);
});

it("keeps levels inside the chart and on the scale of the points", () => {
  const levels = [{ start_seconds: 0, end_seconds: 45 * DAY, start: 120, end: 100 }];
  const curve = curveOf(trend([0, 45], [100, 100], { levels, changes_seconds: [45 * DAY] }), 90 * DAY);
  const [level] = curve?.levels ?? [];
  expect([level?.x1, level?.x2]).toEqual([0, CURVE.width / 2]);
  expect(level?.y1).toBeGreaterThanOrEqual(0);
  expect(curve?.parts[0]).toContain(`,${level?.y2}`);
  expect(curve?.changes).toEqual([CURVE.width / 2]);
});
