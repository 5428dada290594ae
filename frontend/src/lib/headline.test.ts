import { expect, test } from "vitest";
import { headlineWords } from "./headline";

test("names operation and sizes of a throughput, and the metric of other values", () => {
  const labels = { operation: "write", file_size_bytes: 64 * 1024 ** 2, direct: false };
  expect(headlineWords({ metric: "throughput", title: "Throughput", labels })).toBe("write, 64 MiB");
  expect(headlineWords({ metric: "total_throughput", title: "Total throughput", labels })).toBe(
    "Total throughput, write, 64 MiB",
  );
  const record = { operation: "random_read", file_size_bytes: 1024 ** 3, record_size_bytes: 4096 };
  expect(headlineWords({ metric: "throughput", title: "Throughput", labels: record })).toBe(
    "random read, 1 GiB, 4 KiB",
  );
});

test("names the writer of a value of one of several", () => {
  const labels = { operation: "write", writer: 1 };
  expect(headlineWords({ metric: "throughput", title: "Throughput", labels })).toBe("write, writer 1");
});

test("is the metric's title without labels", () => {
  expect(headlineWords({ metric: "throughput", title: "Throughput", labels: {} })).toBe("Throughput");
});
