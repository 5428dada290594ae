import { expect, it } from "vitest";
import type { Surface, SurfaceSide } from "@/api/types";
import { surfaceTable } from "./exports";

const CELL = { median: 5e8, low: 4e8, high: 6e8, n: 4, run_ids: [1, 2, 3, 4], flags: ["CACHE_SIZE"] };
const SIDE = {
  campaign_id: 3,
  node_names: ["node1"],
  target_names: ["scratch"],
  variant: "",
  workload: "iozone",
  options: { direct: false },
  cells: [[CELL, null]],
} as unknown as SurfaceSide;
const SURFACE = {
  metric: "throughput",
  operation: "read",
  unit: "bytes_per_second",
  file_sizes_bytes: [1048576],
  record_sizes_bytes: [4096, 8192],
  a: SIDE,
  b: { ...SIDE, campaign_id: 4, cells: [[{ ...CELL, median: 2.5e8 }, CELL]] },
  differences: [
    [{ ratio: 0.5, low: 0.4, high: 0.6, median_ratio: 0.5, p_value: 0.03, verdict: "lower" }, null],
  ],
} as unknown as Surface;

it("has a row for each measured cell of each side, in base units, with the verdict at B", () => {
  const { columns, rows } = surfaceTable(SURFACE);
  const records = rows.map((row) => Object.fromEntries(columns.map((name, place) => [name, row[place]])));
  expect(records).toMatchObject([
    {
      ...{ file_size_bytes: 1048576, record_size_bytes: 4096, side: "A", option_direct: false },
      ...{ value: 5e8, low: 4e8, high: 6e8, n: 4, unit: "bytes_per_second", flags: "CACHE_SIZE" },
      ...{ run_ids: "1 2 3 4", ratio: null, verdict: null },
    },
    {
      side: "B",
      campaign_id: 4,
      value: 2.5e8,
      ratio: 0.5,
      ci_low: 0.4,
      ci_high: 0.6,
      p: 0.03,
      verdict: "lower",
    },
    { record_size_bytes: 8192, side: "B", value: 5e8, ratio: null },
  ]);
});
