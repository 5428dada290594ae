import { expect, it } from "vitest";
import { counterTitle, counterUnit, curveFigure } from "./curve";

it("reads the unit of a counter from its name", () => {
  expect(counterUnit("write_bytes_per_second")).toBe("bytes_per_second");
  expect(counterUnit("reads_per_second")).toBe("operations_per_second");
  expect(counterUnit("cpu_user_ratio")).toBe("ratio");
  expect(counterUnit("dirty_bytes")).toBe("bytes");
  expect(counterUnit("threads")).toBe("count");
  expect(counterTitle("cpu_user_ratio")).toBe("cpu user");
});

it("draws seconds since the start against the counter with its unit", () => {
  const figure = curveFigure(
    "cpu_user_ratio",
    [{ name: "node-a", stepSeconds: 2, values: [0.5, 1], range: null }],
    "dark",
  );
  expect(figure.data[0]).toMatchObject({ x: [0, 2], y: [50, 100] });
  expect(figure.layout.yaxis?.title).toEqual({ text: "Cpu user (%)" });
});

it("leaves a gap where nothing was measured", () => {
  const figure = curveFigure(
    "cpu_user_ratio",
    [{ name: "node-a", stepSeconds: 1, values: [0.5, null, 1], range: null }],
    "light",
  );
  expect(figure.data[0]).toMatchObject({ y: [50, null, 100] });
});

it("makes a value between gaps visible, also in a long curve without dots", () => {
  const values = [...Array<number>(100).fill(0.5), null, 1, null];
  const figure = curveFigure(
    "cpu_user_ratio",
    [{ name: "node-a", stepSeconds: 1, values, range: null }],
    "light",
  );
  expect(figure.data[0]).toMatchObject({ mode: "lines+markers" });
  const { marker } = figure.data[0] as { marker: { size: number[] } };
  expect(marker.size.slice(-4)).toEqual([0, 0, 5, 0]);
});

it("draws a long curve without gaps as a line alone", () => {
  const values = Array<number>(100).fill(0.5);
  const figure = curveFigure(
    "cpu_user_ratio",
    [{ name: "node-a", stepSeconds: 1, values, range: null }],
    "light",
  );
  expect(figure.data[0]).toMatchObject({ mode: "lines" });
});

it("draws the range behind means as a band, on the scale of its largest value", () => {
  const line = {
    name: "node-a",
    stepSeconds: 52,
    values: [1e6, 1e6],
    range: { low: [0, 1e6], high: [2e9, 1e6] },
  };
  const figure = curveFigure("write_bytes_per_second", [line], "light");
  expect(figure.data).toMatchObject([
    { y: [0, 0.001] },
    { y: [2, 0.001], fill: "tonexty" },
    { y: [0.001, 0.001], name: "node-a" },
  ]);
  expect(figure.layout.showlegend).toBe(false);
});
