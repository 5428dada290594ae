import { expect, it } from "vitest";
import { incidentFigure } from "./incident";

const LINE = {
  name: "Throughput",
  at: ["2026-08-01T00:00:00Z", "2026-08-11T00:00:00Z", "2026-09-20T00:00:00Z"],
  median: [100e6, 80e6, 100e6],
  gaps: [],
};
const OPTIONS = {
  metricTitle: "Throughput",
  unit: "bytes_per_second",
  scheme: "light",
  end: Date.parse("2026-09-30T00:00:00Z"),
} as const;
const SPAN = { at: "2026-08-11T00:00:00Z", isWorse: true, levels: [100e6, 80e6] } as const;

it("shades an incident from its first change to its end, and draws both levels", () => {
  const { layout } = incidentFigure(LINE, { ...SPAN, endedAt: "2026-09-20T00:00:00Z" }, OPTIONS);
  const [shade, before, after] = layout.shapes ?? [];
  expect([shade?.type, shade?.x0, shade?.x1]).toEqual(["rect", after?.x0, after?.x1]);
  expect([before?.y0, after?.y0]).toEqual([100, 80]);
  expect(String(shade?.x0)).toMatch(/^2026-08-1/);
});

it("shades an incident that lasts up to now", () => {
  const { layout } = incidentFigure(LINE, { ...SPAN, endedAt: null, levels: null }, OPTIONS);
  expect(layout.shapes).toHaveLength(1);
  expect(String(layout.shapes?.[0]?.x1)).toMatch(/^2026-09-(29|30)/);
});
