import { expect, it } from "vitest";
import type { RunDetail } from "@/api/types";
import { isTooShortForCurve, loadSeconds } from "./loadTime";

function run(steps: readonly [second: number, seconds: number][], state = "finished"): RunDetail {
  const all = steps.map(([second, wall_seconds]) => ({
    started_at: new Date(second * 1000).toISOString(),
    wall_seconds,
  }));
  return { state, attempts: [{ orders: [{ role: "load", steps: all }] }] } as unknown as RunDetail;
}

it("counts parallel commands once, and no pauses", () => {
  expect(loadSeconds(run([]))).toBe(0);
  expect(loadSeconds(run([[10, 0.5], [20, 0.25]]))).toBe(0.75); // biome-ignore format: a table
  expect(loadSeconds(run([[10, 4], [11, 2], [12, 4]]))).toBe(6); // biome-ignore format: a table
});

it("treats a load shorter than two samples as too short for a curve", () => {
  expect(isTooShortForCurve(run([[10, 0.016]]), 1)).toBe(true);
  expect(isTooShortForCurve(run([[10, 1.9]]), 1)).toBe(true);
  expect(isTooShortForCurve(run([[10, 2]]), 1)).toBe(false);
});

it("is not too short while the run is active or commands are unknown", () => {
  expect(isTooShortForCurve(run([[10, 0.016]], "active"), 1)).toBe(false);
  expect(isTooShortForCurve(run([]), 1)).toBe(false);
});
