import { expect, it } from "vitest";
import type { CampaignMeasures, MeasuredCell } from "@/api/types";
import { rowsOf } from "./rows";
import { seedsOf } from "./seeds";

type Metric = CampaignMeasures["metrics"][number];

function metric(name: string, unit: Metric["unit"], labels: string[] = []): Metric {
  const spec = { workload: "dd", metric: name, title: name, description: "", unit, labels };
  return { ...spec, better: "higher", is_primary: true };
}

function rows(...cells: { options?: object; target?: string; nodes?: string[] }[]) {
  return rowsOf(
    cells.map(
      ({ options = {}, target = "disk", nodes = ["n1"] }) =>
        ({
          variant: "",
          node_names: nodes,
          target_names: [target],
          options,
          measurements: [{ labels: {}, target_name: null }],
        }) as unknown as MeasuredCell,
    ),
  );
}

const DD = [metric("throughput", "bytes_per_second", ["writer"]), metric("duration", "seconds", ["part"])];

it("offers a figure only if the data has its axes", () => {
  expect(seedsOf(DD, "dd", rows({})).map(({ title }) => title)).toEqual(["Real = user + sys + wait"]);
  expect(seedsOf(DD, "fio", rows({}))).toEqual([]);
});

it("draws wall-clock time over file size, target by target", () => {
  const sizes = rows({ options: { file_size_bytes: 1024 } }, { options: { file_size_bytes: 2048 } });
  expect(seedsOf(DD, "dd", sizes)[0]).toEqual({
    title: "Wall-clock time against file size",
    view: { workload: "dd", show: "duration", kind: "points", x: "file_size_bytes", only: { part: "real" } },
  });
});

it("uses the total over writers, and shows how growing groups of nodes scale", () => {
  const own = [...DD, metric("total_throughput", "bytes_per_second")];
  const writers = rows({ options: { writers: 1 } }, { options: { writers: 2 } });
  expect(seedsOf(own, "dd", writers).at(-1)?.view).toMatchObject({ show: "total_throughput", x: "writers" });
  const growing = rows({ nodes: ["n1"] }, { nodes: ["n1", "n2"] });
  expect(seedsOf(own, "dd", growing).at(-1)?.view).toMatchObject({ kind: "scaling" });
  const single = rows({ nodes: ["n1"] }, { nodes: ["n2"] });
  expect(seedsOf(own, "dd", single)).toHaveLength(1);
});

it("compares create rates by stage variants, otherwise by targets", () => {
  const create = [metric("operation_rate", "operations_per_second")];
  const [only] = seedsOf(create, "dd", rows({ target: "ext4" }, { target: "xfs" }));
  expect(only).toMatchObject({
    title: "Create rates by file system",
    view: { show: "operation_rate", x: "target" },
  });
});
