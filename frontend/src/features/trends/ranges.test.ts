import { expect, it } from "vitest";
import type { Points, SeriesAnalysis } from "@/api/types";
import { firstRanges, rangesOf, ratioOf, summaryOf, viewOf } from "./ranges";

const NOW = Date.parse("2026-11-27T00:00:00.000Z");

function summary(median: number[]) {
  return summaryOf({ median, left_out: 0 } as unknown as Points);
}

it("summarizes the points of a range by median, middle half and count", () => {
  expect(summary([4, 1, 3, 2])).toEqual({ n: 4, median: 2.5, low: 1, high: 3, leftOut: 0 });
  expect(summary([5, 1, 3])?.median).toBe(3);
  expect(summary([])).toBeNull();
});

it("has no ratio to an empty range or to zero", () => {
  expect(ratioOf(summary([100]), summary([80]))).toBeCloseTo(0.8);
  expect(ratioOf(summary([0]), summary([80]))).toBeNull();
  expect(ratioOf(null, summary([80]))).toBeNull();
});

it("first compares as long before the newest confirmed change as after it", () => {
  const change = {
    at: "2026-11-07T00:00:00Z",
    previous_at: "2026-11-06T00:00:00Z",
    ended_at: null,
    confirmed_at: "2026-11-12T00:00:00Z",
  };
  const unconfirmed = { ...change, at: "2026-11-20T00:00:00Z", confirmed_at: null };
  const recovery = { ...change, at: "2026-11-15T00:00:00Z", direction: "recovered" };
  const analysis = { changes: [change, unconfirmed, recovery] } as unknown as SeriesAnalysis;
  const ranges = firstRanges(new Map([[1, analysis]]), NOW);
  expect(ranges).toEqual({
    a: { from: "2026-10-17T00:00:00.000Z", to: "2026-11-06T00:00:00.000Z" },
    b: { from: "2026-11-07T00:00:00.000Z", to: "2026-11-27T00:00:00.000Z" },
  });
  expect(rangesOf(viewOf(ranges))).toEqual(ranges);
});

it("without a change compares the last 30 days with the 30 days before, and ignores a range without an end", () => {
  const { a, b } = firstRanges(new Map(), NOW);
  expect([a.to, b.from, b.to]).toEqual([
    "2026-10-28T00:00:00.000Z",
    "2026-10-28T00:00:00.000Z",
    "2026-11-27T00:00:00.000Z",
  ]);
  expect(rangesOf({ a_from: a.from, a_to: a.to, b_from: b.from })).toBeUndefined();
});
