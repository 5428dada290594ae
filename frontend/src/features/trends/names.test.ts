import { expect, it } from "vitest";
import type { Series } from "@/api/types";
import { plainTitle } from "@/lib/options";
import { nameSeries as nameTitled, trendTitle } from "./names";

const nameSeries = (rows: readonly Series[]) => nameTitled(rows, plainTitle);

function series(id: number, parts: Partial<Series>): Series {
  const usual = {
    node_names: ["node-a"],
    target_names: ["disk"],
    variant: "",
    options: {},
    labels: { operation: "write" },
  };
  return { id, ...usual, ...parts } as unknown as Series;
}

it("leaves out common parts", () => {
  const names = nameSeries([
    series(1, { target_names: ["disk"], labels: { operation: "write", file_size_bytes: 268_435_456 } }),
    series(2, { target_names: ["shm"], labels: { operation: "write", file_size_bytes: 1_073_741_824 } }),
  ]);
  expect([...names.values()]).toEqual(["disk · File size 256 MiB", "shm · File size 1 GiB"]);
});

it("names each option, since a size may be that of a file or a block", () => {
  const names = nameSeries([
    series(1, { options: { jobs: 1, block_size_bytes: 65_536 } }),
    series(2, { options: { jobs: 4, block_size_bytes: 65_536 } }),
  ]);
  expect(names.get(2)).toBe("Jobs 4");
});

it("shows all parts of a single series", () => {
  expect(nameSeries([series(1, {})]).get(1)).toBe("write · node-a · disk");
});

it("distinguishes stage variants and series outside stages", () => {
  const variants = ["", "ext3 data=journal", "xfs"];
  const names = nameSeries(variants.map((variant, index) => series(index + 1, { variant })));
  expect([...names.values()]).toEqual(["outside stages", "ext3 data=journal", "xfs"]);
});

it("marks a default value if another series changes the option", () => {
  const names = nameSeries([series(1, {}), series(2, { options: { direct: "never" } })]);
  expect(names.get(1)).toBe("Direct default");
  expect(names.get(2)).toBe("Direct never");
});

it("says what is drawn: metric, workload, targets, nodes and cluster", () => {
  const drawn = (node: string, target: string) =>
    ({ title: "Throughput", workload: "dd", node_names: [node], target_names: [target] }) as Series;
  expect(trendTitle([drawn("c10", "scratch"), drawn("c2", "scratch")], "hpc1")).toBe(
    "Throughput of dd · scratch · c2, c10 · hpc1",
  );
  const many = ["a", "b", "c", "d"].map((name) => drawn(name, "scratch"));
  expect(trendTitle(many, "hpc1")).toBe("Throughput of dd · scratch · 4 nodes · hpc1");
  expect(trendTitle([], "hpc1")).toBe("Trend of hpc1");
});
