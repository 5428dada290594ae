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
    [{ name: "node-a", stepSeconds: 2, values: [0.5, 1] }],
    "dark",
  );
  expect(figure.data[0]).toMatchObject({ x: [0, 2], y: [50, 100] });
  expect(figure.layout.yaxis?.title).toEqual({ text: "Cpu user (%)" });
});

it("leaves a gap where nothing was measured", () => {
  const figure = curveFigure(
    "cpu_user_ratio",
    [{ name: "node-a", stepSeconds: 1, values: [0.5, null, 1] }],
    "light",
  );
  expect(figure.data[0]).toMatchObject({ y: [50, null, 100] });
});
