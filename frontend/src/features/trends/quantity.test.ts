import { expect, it } from "vitest";
import type { Series } from "@/api/types";
import { byQuantity, quantityOf } from "./quantity";

function series(id: number, labels: object, last_value: number | null = 100): Series {
  return { id, labels, last_value } as Series;
}
const grouped = (all: readonly Series[]) =>
  byQuantity(all, (one) => one, quantityOf).map(({ title, items }) => [title, items.map(({ id }) => id)]);

it("names a quantity by its operation and percentile, not by the conditions", () => {
  expect(quantityOf(series(1, { percentile: "p99_9", operation: "read", file_size_bytes: 4096 }))).toBe(
    "read, p99.9",
  );
  expect(quantityOf(series(1, { direct: true }))).toBe("");
});

it("keeps reads and writes apart, and file sizes of one operation together", () => {
  const all = [
    series(1, { operation: "write", file_size_bytes: 1 }),
    series(2, { operation: "read" }),
    series(3, { operation: "write", file_size_bytes: 2 }),
  ];
  expect(grouped(all)).toEqual([
    ["write", [1, 3]],
    ["read", [2]],
  ]);
});

it("keeps a file system in memory apart from a disk of the same operation", () => {
  const all = [series(1, {}, 2e8), series(2, {}, 8e9), series(3, {}, 3e8), series(4, {}, null)];
  expect(grouped(all)).toEqual([
    ["", [1, 3, 4]],
    ["(2)", [2]],
  ]);
});
