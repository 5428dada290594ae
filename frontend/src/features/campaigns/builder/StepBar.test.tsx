import { expect, it } from "vitest";
import type { Preview } from "@/api/types";
import { summaryOf } from "./StepBar";

const preview = {
  cell_count: 6,
  run_count: 24,
  seconds_estimated: 1215,
  bytes_moved: 12 * 1024 ** 3,
  warnings: [{ message: "few" }, { message: "few" }, { message: "short" }],
} as unknown as Preview;

it("sums up a plan in one line, with an honest time and each warning once", () => {
  expect(summaryOf(preview)).toBe("6 configurations, 24 runs, about 20 min, 12 GiB moved, 2 warnings");
  const one = { ...preview, cell_count: 1, run_count: 1, seconds_estimated: null, warnings: [] };
  expect(summaryOf(one)).toBe("1 configuration, 1 run, time unknown, 12 GiB moved");
});
