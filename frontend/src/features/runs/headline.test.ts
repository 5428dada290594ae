import { expect, it } from "vitest";
import type { Sample } from "@/api/types";
import { headlineOf } from "./headline";

const sample = (id: number, better: string, labels = {}, superseded: string | null = null) =>
  ({ id, better, labels, superseded }) as unknown as Sample;

it("prefers rates over times, and the total over single writers", () => {
  const samples = [sample(1, "lower"), sample(2, "higher", { writer: 1 }), sample(3, "higher")];
  expect(headlineOf(samples)?.id).toBe(3);
  expect(headlineOf(samples.slice(0, 1))?.id).toBe(1);
  expect(headlineOf([])).toBeUndefined();
});

it("skips superseded values", () => {
  const samples = [sample(1, "higher", {}, "Timed by the node's clock."), sample(2, "lower")];
  expect(headlineOf(samples)?.id).toBe(2);
});
