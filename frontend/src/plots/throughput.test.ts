import { expect, it } from "vitest";
import { throughputFigure } from "./throughput";

const LINE = { name: "hpc1", days: ["2026-11-01", "2026-11-02"], medians: [1.2e9, 6e8], series: [1, 3] };
const OPTIONS = { metricTitle: "Throughput, write", unit: "bytes_per_second", scheme: "light" } as const;

it("draws a line per cluster on one scale, with the unit on the axis", () => {
  const { data, layout } = throughputFigure([LINE, { ...LINE, name: "hpc2" }], OPTIONS);
  const text = ["1 series", "median of 3 series"];
  expect(data).toMatchObject([{ name: "hpc1", x: LINE.days, y: [1.2, 0.6], text }, { name: "hpc2" }]);
  expect(layout.yaxis).toMatchObject({ title: { text: "Throughput, write (GB/s)" }, rangemode: "tozero" });
});

it("distinguishes the ninth cluster from the first by its dash", () => {
  const lines = Array.from({ length: 9 }, (_, place) => ({ ...LINE, name: String(place) }));
  const looks = throughputFigure(lines, OPTIONS).data.map((trace) =>
    JSON.stringify(trace, ["line", "color", "dash"]),
  );
  expect(new Set(looks).size).toBe(9);
});
