import { expect, it } from "vitest";
import type { CampaignMeasures, MeasuredCell } from "@/api/types";
import { toCsv } from "@/lib/exported";
import { plainTitle } from "@/lib/options";
import { chooseLayout, chooseMeasures, type FigureView } from "./choice";
import { runsTable } from "./FigureTable";
import { drawPanels } from "./panels";
import { dimensionsOf, rowsOf, runOrder } from "./rows";

const RATE = {
  key: "throughput",
  title: "Throughput",
  description: "",
  unit: "bytes_per_second",
  query: { metric: "throughput" },
} as const;
let nextRun = 1;

interface Given {
  readonly variant?: string;
  readonly targets?: string[];
  readonly nodes?: string[];
  readonly target?: string | null;
  readonly options?: object;
  readonly labels?: object;
  readonly values?: number[];
}

/** A cell with one measurement. */
function cell(given: Given) {
  const {
    variant = "",
    targets = ["disk"],
    nodes = ["node07"],
    target = null,
    options = {},
    labels = {},
    values = [1e6],
  } = given;
  const runs = values.map((_, index) => ({
    id: nextRun++,
    repeat: index + 1,
    started_at: new Date(nextRun * 1000).toISOString(),
  }));
  const sorted = [...values].sort((a, b) => a - b);
  return {
    variant,
    target_names: targets,
    node_names: nodes,
    options,
    runs,
    measurements: [
      {
        labels,
        target_name: target,
        n: values.length,
        median: sorted[Math.floor(sorted.length / 2)],
        low: sorted[0],
        high: sorted.at(-1),
        flags: [],
        run_ids: runs.map(({ id }) => id),
        values,
      },
    ],
  } as unknown as MeasuredCell;
}

function choose(cells: MeasuredCell[], view: FigureView = {}) {
  return chooseLayout(rowsOf(cells), view, RATE.unit);
}

function draw(cells: MeasuredCell[], view: FigureView = {}) {
  const look = {
    measure: RATE,
    titleOf: plainTitle,
    order: runOrder(cells),
    scheme: "light",
  } as const;
  return drawPanels(choose(cells, view), look);
}

const SIZES = [1024, 2048, 4096];
const surface = (labels: object, factor = 1, runs = [1, 2]) =>
  SIZES.flatMap((file) =>
    SIZES.filter((record) => record <= file).map((record) =>
      cell({
        labels: { file_size_bytes: file, record_size_bytes: record, ...labels },
        values: runs.map(() => factor * record),
      }),
    ),
  );

it("keeps one of several names that always vary together", () => {
  const rows = rowsOf([
    cell({ options: { flush: "fsync" }, labels: { direct: false } }),
    cell({ options: { flush: "direct" }, labels: { direct: true } }),
  ]);
  expect(dimensionsOf(rows)).toEqual(["flush"]);
});

it("draws lines over a number that took three values, a colour for each target", () => {
  const cells = ["disk", "nfs"].flatMap((target) =>
    SIZES.map((size) =>
      cell({ targets: [target], options: { file_size_bytes: size }, values: [size, 2 * size] }),
    ),
  );
  expect(choose(cells)).toMatchObject({ kind: "points", axes: ["file_size_bytes"], series: ["target"] });
  const { data, layout } = draw(cells).panels[0]?.figure ?? { data: [], layout: {} };
  expect(data.map(({ name }) => name)).toEqual(["disk", "disk", "nfs", "nfs"]);
  expect(data[1]).toMatchObject({ x: [1024, 1024, 2048, 2048, 4096, 4096], mode: "markers" });
  expect(layout.xaxis).toMatchObject({ ticktext: ["1 KiB", "2 KiB", "4 KiB"] });
});

it("draws the files of a fill over their number, a colour for each target", () => {
  const cells = ["raid1", "raid2"].flatMap((target) =>
    [1, 2, 3].map((file) => cell({ targets: [target], labels: { operation: "write", file } })),
  );
  expect(choose(cells)).toMatchObject({ axes: ["file"], series: ["target"] });
});

it("draws bars over targets, with every run as a point", () => {
  const cells = ["disk", "nfs"].map((target) => cell({ targets: [target], values: [1e6, 2e6, 3e6] }));
  const { data } = draw(cells).panels[0]?.figure ?? { data: [] };
  expect(data[0]).toMatchObject({ type: "bar", y: [2, 2], text: ["median of 3 runs", "median of 3 runs"] });
  expect(data[1]).toMatchObject({ type: "scatter", y: [1, 2, 3, 1, 2, 3] });
});

it("draws a bar for the rounds of a variant together, with its name in short lines", () => {
  const rounds = [[1e6, 3e6], [6e6, 8e6], [2e6]];
  const variants = ["raid5 3x64K / xfs", "raid5 3x64K / xfs", "lvm linear on raid5 3x64K / ext4"];
  const cells = variants.map((variant, index) => cell({ variant, values: rounds[index] ?? [] }));
  const { data, layout } = draw(cells).panels[0]?.figure ?? { data: [], layout: {} };
  expect(data[0]).toMatchObject({ y: [4.5, 2], text: ["median of 4 runs", "1 run"] });
  expect(layout.xaxis?.ticktext).toEqual(["raid5 3x64K<br>xfs", "lvm linear on<br>raid5 3x64K<br>ext4"]);
});

it("distinguishes variants by bars if nothing else differs, otherwise by colours", () => {
  const variants = ["ext3 data=ordered", "ext3 data=journal"];
  const alone = variants.map((variant) => cell({ variant }));
  expect(choose(alone)).toMatchObject({ axes: ["variant"], series: [] });
  const sized = variants.flatMap((variant) =>
    SIZES.map((size) => cell({ variant, options: { jobs: size } })),
  );
  expect(choose(sized)).toMatchObject({ axes: ["jobs"], series: ["variant"] });
  const { rows } = runsTable(choose(alone).rows, ["variant"], RATE);
  expect(rows[0]?.[0]).toBe("ext3 data=ordered");
});

it("shows many repeats of few cells in run order", () => {
  const cells = ["raid1", "raid2"].map((target) => cell({ targets: [target], values: Array(9).fill(1e6) }));
  expect(choose(cells)).toMatchObject({ axes: ["run"], series: ["target"] });
  expect(draw(cells).panels[0]?.figure.data[1]).toMatchObject({ x: [10, 11, 12, 13, 14, 15, 16, 17, 18] });
});

it("distinguishes targets used at once from single targets", () => {
  const cells = [
    cell({ targets: ["raid1"] }),
    cell({ targets: ["raid1", "raid2"], target: "raid1" }),
    cell({ targets: ["raid2"] }),
    cell({ targets: ["raid1", "raid2"], target: "raid2" }),
  ];
  expect(choose(cells)).toMatchObject({ axes: ["target"], series: ["loaded"] });
});

it("draws a map over two sizes, a panel for each operation, all on one scale", () => {
  const cells = [...surface({ operation: "write" }), ...surface({ operation: "read" }, 10)];
  expect(choose(cells)).toMatchObject({ kind: "map", axes: ["record_size_bytes", "file_size_bytes"] });
  const { panels } = draw(cells);
  expect(panels.map(({ title }) => title)).toEqual(["write", "read"]);
  expect(panels[0]?.figure.data[0]).toMatchObject({
    type: "heatmap",
    y: ["1 KiB", "2 KiB", "4 KiB"],
    z: [
      [1.024, null, null],
      [1.024, 2.048, null],
      [1.024, 2.048, 4.096],
    ],
    zmin: 1.024,
    zmax: 40.96,
  });
});

it("marks an empty map cell as impossible only if the record exceeds the file", () => {
  const without = surface({}).toSpliced(2, 1);
  const measured = expect.stringContaining("2 runs");
  const impossible = "impossible: record larger than file";
  expect(draw(without).panels[0]?.figure.data[0]).toMatchObject({
    customdata: [
      [measured, impossible, impossible],
      [measured, "not measured", impossible],
      [measured, measured, measured],
    ],
  });
  const others = SIZES.flatMap((jobs) =>
    SIZES.filter((depth) => depth <= jobs).map((depth) => cell({ options: { jobs, depth } })),
  );
  const { data } = draw(others, { kind: "map" }).panels[0]?.figure ?? { data: [] };
  expect(data[0]).toMatchObject({ type: "heatmap" });
  expect(JSON.stringify(data)).not.toContain("impossible");
});

it("divides one heat map by another", () => {
  const cells = [...surface({ operation: "write" }), ...surface({ operation: "read" }, 2)];
  const { panels } = draw(cells, { kind: "ratio", against: "write" });
  expect(panels.map(({ title }) => title)).toEqual(["read ÷ write"]);
  expect(panels[0]?.figure.data[0]).toMatchObject({
    z: [
      [1, null, null],
      [1, 1, null],
      [1, 1, 1],
    ],
  });
});

it("gives no ratio of single runs", () => {
  const cells = [...surface({ operation: "write" }, 1, [1]), ...surface({ operation: "read" }, 2)];
  const { panels } = draw(cells, { kind: "ratio", against: "write" });
  expect(panels[0]?.figure.data[0]).toMatchObject({
    z: [
      [null, null, null],
      [null, null, null],
      [null, null, null],
    ],
  });
});

it("stacks parts, with the total of every run as a point", () => {
  const cells = ["disk", "nfs"].flatMap((target) =>
    ["real", "user", "sys", "wait"].map((part) =>
      cell({ targets: [target], labels: { part }, values: [2, 3] }),
    ),
  );
  expect(choose(cells)).toMatchObject({ kind: "parts", axes: ["target"] });
  const { data, layout } = draw(cells).panels[0]?.figure ?? { data: [], layout: {} };
  expect(layout.barmode).toBe("stack");
  expect(data.map(({ name }) => name)).toEqual(["user", "sys", "wait", "real, each run"]);
});

it("splits into panels if there are too many colours, and reports what does not fit", () => {
  const cells = Array.from({ length: 9 }, (_, index) => index).flatMap((index) =>
    ["a", "b"].map((target) => cell({ targets: [target], labels: { percentile: `p${index}` } })),
  );
  expect(choose(cells, { x: "target", split: "" })).toMatchObject({ series: ["percentile"] });
  expect(draw(cells, { x: "target", split: "" }).undrawn).toBe(1);
});

it("draws the single value of a dimension that the address selects", () => {
  const cells = ["write", "read"].flatMap((operation) =>
    ["a", "b"].map((target) => cell({ targets: [target], labels: { operation } })),
  );
  expect(choose(cells, { only: { operation: "read" } })).toMatchObject({
    pins: { operation: "read" },
    series: [],
  });
});

it("names the only writer of a run", () => {
  const cells = [cell({ options: { writers: 1 } })].concat(
    ["1", "2"].map((writer) => cell({ options: { writers: 2 }, labels: { writer } })),
  );
  const { data } = draw(cells, { x: "writers" }).panels[0]?.figure ?? { data: [] };
  expect(data.map(({ name }) => name)).toContain("Single writer");
  expect(data.map(({ name }) => name)).toContain("Writer 2");
});

it("distinguishes monitored nodes from nodes under load", () => {
  const cells = SIZES.flatMap((file_size_bytes) =>
    [{}, { observer: "server1" }].map((labels) => cell({ options: { file_size_bytes }, labels })),
  );
  const { data } = draw(cells).panels[0]?.figure ?? { data: [] };
  expect(new Set(data.map(({ name }) => name))).toEqual(new Set(["Nodes under load", "Observer server1"]));
});

it("shows writers with their total, and loss with the rate of a stream", () => {
  const measures = (...names: string[]) =>
    ({
      metrics: names.map((metric) => ({
        metric,
        workload: "dd",
        labels: ["writer"],
        better: "higher",
        title: metric,
      })),
      counters: ["cpu_user_ratio"],
    }) as unknown as CampaignMeasures;
  const keys = (view: FigureView, ...names: string[]) => {
    const { shown, beside } = chooseMeasures(measures(...names), "dd", view);
    return [shown?.key, beside?.key];
  };
  expect(keys({}, "throughput", "total_throughput")).toEqual(["total_throughput", "throughput"]);
  expect(keys({}, "lossless_rate", "throughput", "loss_ratio")).toEqual(["throughput", "loss_ratio"]);
  expect(keys({ show: "throughput", beside: "mean:cpu_user_ratio" }, "throughput")).toEqual([
    "throughput",
    "mean:cpu_user_ratio",
  ]);
});

/** Nodes times tasks, at a rate for each task. */
const gangs = (rates: readonly number[], labels: object = {}) =>
  [1, 2].flatMap((count) =>
    [1, 4].map((tasks, place) =>
      cell({
        nodes: ["n1", "n2"].slice(0, count),
        options: { tasks },
        labels,
        values: [1e6 * count * tasks * (rates[place] ?? 1)],
      }),
    ),
  );

it("draws totals over the tasks on all nodes, a line for each number of tasks per node, and the ideal", () => {
  const cells = [
    ...gangs([1, 0.5]),
    cell({ nodes: ["n1", "n2"], options: { tasks: 4 }, labels: { writer: "n1" } }),
  ];
  expect(choose(cells)).toMatchObject({ kind: "scaling", axes: ["all_tasks"], series: ["tasks"] });
  const { data, layout } = draw(cells).panels[0]?.figure ?? { data: [], layout: {} };
  expect(data.filter((trace) => "mode" in trace && trace.mode === "lines")).toMatchObject([
    { name: "Tasks 1", x: [1, 2], y: [1, 2], text: ["1 run, 100 % of ideal", "1 run, 100 % of ideal"] },
    { name: "Tasks 4", x: [4, 8], y: [2, 4], text: ["1 run, 50 % of ideal", "1 run, 50 % of ideal"] },
    { name: "Ideal, from the smallest", x: [1, 8], y: [1, 8] },
  ]);
  expect(layout.xaxis).toMatchObject({ type: "log", ticktext: ["1", "2", "4", "8"] });
  expect(layout.yaxis).toMatchObject({ type: "log" });
});

it("leaves out configurations with 0 tasks, which have no place on a logarithmic axis", () => {
  const cells = [...gangs([1, 1]), cell({ nodes: ["n1"], options: { tasks: 0 }, values: [1e6] })];
  const { layout } = draw(cells).panels[0]?.figure ?? { data: [], layout: {} };
  expect(layout.xaxis).toMatchObject({ ticktext: ["1", "2", "4", "8"] });
});

it("begins an ideal line in each panel", () => {
  const cells = [...gangs([1, 1], { operation: "write" }), ...gangs([3, 3], { operation: "read" })];
  expect(choose(cells)).toMatchObject({ split: "operation", series: ["tasks"] });
  const ideals = draw(cells).panels.map(({ figure }) => figure.data.at(-1));
  expect(ideals).toMatchObject([{ y: [1, 8] }, { y: [3, 24] }]);
});

it("counts nodes without an option for tasks, and the sum of nodes that each run a program", () => {
  const pair = ["n1", "n2"];
  const cells = [
    cell({ nodes: ["n1"], values: [1e6] }),
    cell({ nodes: pair, values: [0.8e6] }),
    cell({ nodes: pair, labels: { nodes: "all" }, values: [1.6e6] }),
  ];
  expect(choose(cells)).toMatchObject({ kind: "scaling", axes: ["node_count"], series: [] });
  expect(draw(cells).panels[0]?.figure.data[0]).toMatchObject({ x: [1, 2], y: [1, 1.6] });
});

it("offers no scaling of durations, or over nodes that take turns", () => {
  const turns = ["n1", "n2"].map((name) => cell({ nodes: [name], options: { tasks: 4 } }));
  expect(choose(turns).kinds).not.toContain("scaling");
  expect(chooseLayout(rowsOf(gangs([1, 1])), {}, "seconds").kinds).not.toContain("scaling");
});

it("writes one run per CSV line in base units", () => {
  const rows = rowsOf([cell({ labels: { operation: 'say "a"' }, values: [5] })]);
  expect(toCsv(runsTable(rows, ["operation"], RATE))).toBe(
    `operation,run_id,throughput,unit,flags\r\n"say ""a""",${nextRun - 1},5,bytes_per_second,\r\n`,
  );
});
