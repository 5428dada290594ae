import { expect, it } from "vitest";
import type { RunDetail, Sample } from "@/api/types";
import { summaryOf } from "./summary";

const SAMPLE = {
  id: 1,
  target_id: 3,
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: { operation: "write", file_size_bytes: 16 * 1024 ** 2 },
  superseded: null,
  value: 1.19e9,
} as unknown as Sample;
const READ = { ...SAMPLE, value: 1.39e9, labels: { ...SAMPLE.labels, operation: "read" } };
const DURATION = { ...SAMPLE, metric: "duration", better: "lower", unit: "seconds", value: 0.01 } as Sample;

function flag(code: string, labels: object = {}) {
  return { code, effect: "marked", measured: "", limit: "", labels, target_id: null };
}

function summary(samples: readonly Sample[], flags: readonly object[] = []) {
  return summaryOf({ samples, flags } as unknown as RunDetail);
}

it("says in one line what was written and read, and that it was too short", () => {
  const flags = [flag("DURATION"), flag("CACHE_SIZE", { operation: "read" })];
  expect(summary([SAMPLE, READ, DURATION], flags)).toEqual({
    measured: "Wrote 16 MiB at 1.19 GB/s and read it at 1.39 GB/s",
    cautions: ["too short to trust", "partly may be cached"],
  });
});

it("gives the range of an operation with several sizes, and no size", () => {
  const other = { ...SAMPLE, value: 2e9, labels: { operation: "write", file_size_bytes: 4096 } };
  expect(summary([SAMPLE, other]).measured).toBe("Wrote at 1.19 GB/s to 2 GB/s (2 values)");
});

it("names operations that are not reads or writes of data", () => {
  const rate = { ...SAMPLE, metric: "operation_rate", unit: "operations_per_second", value: 1200 } as Sample;
  const of = (operation: string) => ({ ...rate, labels: { operation } });
  const five = ["create", "stat", "rename", "random_read", "unlink"].map(of);
  expect(summary(five).measured).toBe(
    "Create at 1.2 kop/s, stat at 1.2 kop/s, rename at 1.2 kop/s, random read at 1.2 kop/s and 1 more operation",
  );
});

it("prefers the value of all targets and of all writers, and ignores superseded ones", () => {
  const whole = { ...SAMPLE, target_id: null, value: 3e9 };
  const writer = { ...SAMPLE, labels: { ...SAMPLE.labels, writer: 1 }, value: 5e8 };
  const old = { ...READ, superseded: "read again" } as Sample;
  expect(summary([writer, SAMPLE, whole, old]).measured).toBe("Wrote 16 MiB at 3 GB/s");
});

it("is empty without a value", () => {
  expect(summary([])).toEqual({ measured: "", cautions: [] });
});
