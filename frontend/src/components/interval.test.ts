import { expect, it } from "vitest";
import { markOf, reachOf } from "./interval";

it('places "no difference" in the middle, with double and half equally far', () => {
  expect(markOf({ ratio: 1, low: 0.5, high: 2 }, 4)).toEqual({
    dot: 0.5,
    bar: { from: 0.25, to: 0.75 },
    cutLow: false,
    cutHigh: false,
  });
});

it("marks the end beyond which an interval extends, and hides a dot outside", () => {
  expect(markOf({ ratio: 9, low: 0.9, high: 12 }, 4)).toMatchObject({
    dot: null,
    cutLow: false,
    cutHigh: true,
  });
  expect(markOf({ ratio: 0, low: null, high: null }, 4)).toMatchObject({
    dot: null,
    bar: null,
    cutLow: true,
  });
});

it("spans the widest interval of a table, within bounds", () => {
  expect(reachOf([])).toBeCloseTo(1.122);
  expect(reachOf([{ ratio: 1.01, low: 0.99, high: 1.03 }])).toBeCloseTo(1.122);
  expect(reachOf([{ ratio: 0.8, low: 0.5, high: 1.1 }])).toBeCloseTo(2.04);
  expect(reachOf([{ ratio: 100, low: null, high: null }])).toBe(4);
});
