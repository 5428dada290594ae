import { expect, it } from "vitest";
import { sparkPath, sparkSpan } from "./spark";

const SIZE = { width: 106, height: 26, inset: 3 };
const DAYS = ["2026-11-01T00:00:00Z", "2026-11-03T00:00:00Z", "2026-11-11T00:00:00Z"];

it("places points by their time, the highest at the top", () => {
  expect(sparkPath(DAYS, [10, 20, 15], SIZE)).toBe("3,23 23,3 103,13");
  expect(sparkPath(DAYS, [5, 5, 5], SIZE)).toBe("3,13 23,13 103,13");
});

it("shades an open incident to the last point, and one outside of the points at the edge", () => {
  expect(sparkSpan(DAYS, "2026-11-06T00:00:00Z", null, SIZE)).toEqual({ x: 53, width: 50 });
  expect(sparkSpan(DAYS, "2026-11-02T00:00:00Z", "2026-11-04T00:00:00Z", SIZE)).toEqual({ x: 13, width: 20 });
  expect(sparkSpan(DAYS, "2026-12-01T00:00:00Z", null, SIZE)).toEqual({ x: 101, width: 2 });
});
