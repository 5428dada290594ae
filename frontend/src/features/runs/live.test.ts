import { expect, it } from "vitest";
import type { Curve } from "@/api/types";
import { liveLines, sparkline } from "./live";

function curve(counter: string, firstSecond: number, values: (number | null)[]): Curve {
  const started_at = new Date(Date.UTC(2026, 10, 21, 10, 0, firstSecond)).toISOString();
  return { order_id: 1, counter, started_at, step_seconds: 1, values, lows: null, highs: null };
}

it("sums the nodes of a gang per second, and shows directions with traffic", () => {
  const lines = liveLines([
    curve("write_bytes_per_second", 0, [1, 2, 3]),
    curve("write_bytes_per_second", 1, [10, 10]),
    curve("read_bytes_per_second", 0, [0, 0, 0]),
  ]);
  expect(lines).toEqual([{ direction: "write", values: [1, 12, 13], latest: 13 }]);
});

it("shows the last two minutes of a long run", () => {
  const [line] = liveLines([
    curve(
      "read_bytes_per_second",
      0,
      Array.from({ length: 300 }, (_, at) => at + 1),
    ),
  ]);
  expect([line?.values.length, line?.latest]).toEqual([120, 300]);
});

it("shows nothing with less than two known seconds", () => {
  expect(liveLines([])).toEqual([]);
  expect(liveLines([curve("write_bytes_per_second", 0, [17e6])])).toEqual([]);
});

it("draws from 0 to the largest value, with gaps", () => {
  expect(sparkline([0, 10], { width: 10, height: 12 })).toBe("M0.0,11.0L10.0,1.0");
  expect(sparkline([5, null, 5], { width: 10, height: 12 })).toBe("M0.0,1.0M10.0,1.0");
});
