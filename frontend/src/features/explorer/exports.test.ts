import { parquetReadObjects } from "hyparquet";
import { expect, it } from "vitest";
import type { ExplorerRun } from "@/api/types";
import { toCsv } from "@/lib/exported";
import { toParquet } from "@/lib/parquet";
import { runsTable } from "./exports";

const FINISHED: ExplorerRun = {
  id: 7,
  campaign_id: 2,
  campaign_name: "nightly",
  cluster_id: 1,
  cluster_name: "lab",
  cell_id: 3,
  cell_ordinal: 1,
  repeat: 2,
  workload: "dd",
  options: { size_bytes: 65536, direct: true, paths: ["a", "b"] },
  variant: "",
  node_names: ["node1", "node2"],
  target_names: ["scratch"],
  state: "finished",
  validity: "valid",
  flags: ["CACHE_SIZE", "DURATION"],
  usual_flags: [],
  at: "2026-11-21T10:00:00Z",
  duration_seconds: 12.5,
  headline: {
    series_id: 9,
    metric: "throughput",
    title: "Throughput",
    unit: "bytes_per_second",
    better: "higher",
    labels: { operation: "write", block_size_bytes: 4096 },
    value: 118234112.5,
    flags: ["CACHE_SIZE"],
    usual_flags: [],
  },
  likeness: "x",
};
const WAITING: ExplorerRun = {
  ...FINISHED,
  id: 8,
  workload: "fio",
  options: { jobs: 4 },
  state: "waiting",
  flags: [],
  duration_seconds: null,
  headline: null,
};

it("exports a column for each option and label, and the headline's metric and unit", async () => {
  const table = runsTable([FINISHED, WAITING]);
  const [first, second] = await parquetReadObjects({ file: toParquet(table) });
  expect(first).toMatchObject({
    run_id: 7,
    option_size_bytes: 65536,
    option_direct: true,
    option_paths: "a b",
    option_jobs: null,
    metric: "throughput",
    label_operation: "write",
    label_block_size_bytes: 4096,
    value: 118234112.5,
    unit: "bytes_per_second",
    flags: "CACHE_SIZE DURATION",
    duration_seconds: 12.5,
    nodes: "node1 node2",
  });
  expect(second).toMatchObject({ run_id: 8, option_jobs: 4, option_direct: null, value: null, metric: null });
});

it("exports no JSON, and ratios with a baseline", () => {
  expect(toCsv(runsTable([FINISHED, WAITING]))).not.toMatch(/[{}[\]]/);
  const other = {
    ...FINISHED,
    headline: FINISHED.headline && { ...FINISHED.headline, value: 118234112.5 * 2 },
  };
  const { columns, rows } = runsTable([FINISHED, other, WAITING], FINISHED);
  expect(rows.map((row) => row[columns.indexOf("ratio_to_baseline")])).toEqual([1, 2, null]);
});
