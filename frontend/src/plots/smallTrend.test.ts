import { expect, it } from "vitest";
import { localTime } from "@/lib/time";
import { smallTrendFigure } from "./smallTrend";

const LINE = { name: "write", at: ["2026-11-01T00:00:00Z"], median: [1e9], gaps: [] };
const OPTIONS = {
  metricTitle: "Throughput",
  scale: { divisor: 1e9, name: "GB/s" },
  range: [0, 2e9],
  span: {},
  scheme: "light",
  end: Date.parse("2026-11-30T00:00:00Z"),
} as const;

it("shades two compared ranges and names them", () => {
  const ranges = {
    a: { from: "2026-11-01T00:00:00Z", to: "2026-11-10T00:00:00Z" },
    b: { from: "2026-11-11T00:00:00Z", to: "2026-11-20T00:00:00Z" },
  };
  const { shapes = [] } = smallTrendFigure([LINE], { ...OPTIONS, ranges }).layout;
  expect(shapes.map(({ label, x0, x1 }) => [label?.text, x0, x1])).toEqual([
    ["A", localTime(ranges.a.from), localTime(ranges.a.to)],
    ["B", localTime(ranges.b.from), localTime(ranges.b.to)],
  ]);
  expect(smallTrendFigure([LINE], OPTIONS).layout.shapes).toEqual([]);
});
