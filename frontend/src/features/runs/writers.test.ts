import { expect, it } from "vitest";
import type { RunDetail, Sample, StepRecord } from "@/api/types";
import { writerLanes, writerSteps } from "./writers";

function step(
  name: string,
  writer: number | null,
  startedAtSecond: number,
  wall_seconds: number,
): StepRecord {
  const started_at = new Date(Date.UTC(2026, 10, 21, 10, 0, startedAtSecond)).toISOString();
  return { name, writer, target_id: 3, started_at, wall_seconds } as StepRecord;
}

function runOf(steps: StepRecord[], samples: Partial<Sample>[] = []): RunDetail {
  return { attempts: [{ orders: [{ id: 5, node_name: "n1", steps }] }], samples } as unknown as RunDetail;
}

it("gives each writer a lane on a common time axis", () => {
  const steps = writerSteps(runOf([step("write-1", 1, 10, 4), step("write-2", 2, 12, 5)]));
  expect(steps.map(({ lane, second }) => [lane, second])).toEqual([
    ["n1, writer 1", 0],
    ["n1, writer 2", 2],
  ]);
  expect(writerLanes(steps)).toMatchObject({
    kinds: [{ key: "write" }],
    lanes: ["n1, writer 1", "n1, writer 2"],
    bars: [
      { from: 0, to: 4 },
      { from: 2, to: 7 },
    ],
  });
});

it("finds the rate of a single writer", () => {
  const rate = { order_id: 5, target_id: 3, unit: "bytes_per_second", value: 4e6 } as const;
  const [first, second] = writerSteps(
    runOf(
      [step("write-1", 1, 0, 1), step("read-1", 1, 1, 1)],
      [{ ...rate, labels: { operation: "write", writer: 1 } }],
    ),
  );
  expect(first?.rate?.value).toBe(4e6);
  expect(second?.rate).toBeUndefined();
});

it("has no lanes without separate writers", () => {
  expect(writerSteps(runOf([step("write", null, 0, 1)]))).toEqual([]);
  expect(writerSteps({ attempts: [], samples: [] } as unknown as RunDetail)).toEqual([]);
});
