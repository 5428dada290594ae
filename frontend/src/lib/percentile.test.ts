import { expect, it } from "vitest";
import { percentile } from "./percentile";

it("returns a measured value, never a mean of two", () => {
  const runs = Array.from({ length: 30 }, (_, place) => place + 1);
  expect([50, 95, 99].map((percent) => percentile(runs, percent))).toEqual([15, 29, 30]);
  expect(percentile([7], 0)).toBe(7);
});
