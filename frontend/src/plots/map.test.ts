import { expect, it } from "vitest";
import { surfaceFigure } from "./map";

const MAP = {
  xNames: ["1", "2"],
  yNames: ["1", "2"],
  values: [
    [2e6, null],
    [null, 1e6],
  ],
  runs: [
    ["1 run", ""],
    ["", "1 run"],
  ],
  gaps: [
    ["", ""],
    ["not measured: too fast to measure", ""],
  ],
};
const OPTIONS = {
  xTitle: "Record size",
  yTitle: "File size",
  scheme: "light",
  scale: { divisor: 1e6, name: "MB/s" },
  lowest: 1e6,
  highest: 2e6,
} as const;

it("hatches cells with a reason for a missing value, and lists the hatch in the legend", () => {
  const { data, layout } = surfaceFigure(MAP, OPTIONS);
  expect(data[0]).toMatchObject({
    customdata: [
      ["2 MB/s, 1 run", "impossible: record larger than file"],
      ["not measured: too fast to measure", "1 MB/s, 1 run"],
    ],
  });
  expect(data[1]).toMatchObject({ name: "not measured", marker: { pattern: { shape: "/" } } });
  expect(layout.showlegend).toBe(true);
  const path = layout.shapes?.[0]?.path ?? "";
  expect(path.match(/M/g)).toHaveLength(3);
  // Plotly interprets whole numbers as column names.
  expect(path.match(/[ML,](-?[\d.]+)/g)?.every((at) => at.includes("."))).toBe(true);
});

it("has neither hatch nor legend if every cell has a value", () => {
  const whole = { ...MAP, values: [[1, 2]], gaps: [["", ""]] };
  const { data, layout } = surfaceFigure(whole, OPTIONS);
  expect(data).toHaveLength(1);
  expect(layout.shapes).toEqual([]);
});
