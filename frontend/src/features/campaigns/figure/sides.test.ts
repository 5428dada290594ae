import { expect, it } from "vitest";
import { plainTitle } from "@/lib/options";
import { formatRoughFactor } from "@/lib/units";
import { chooseLayout } from "./choice";
import { drawPanels } from "./panels";
import { ratiosTo } from "./ratios";
import { dimensionsOf, type FigureRow } from "./rows";
import { mergeSides } from "./sides";

function row(parts: object, median = 1, n = 1, flags: string[] = []): FigureRow {
  const measured = { median, low: median, high: median, n, flags, values: [median], run_ids: [1] };
  return { parts, measured } as unknown as FigureRow;
}

const GB = 1e9;
const TIMES: Readonly<Record<string, readonly number[]>> = {
  gpfs: [161.46, 266.11, 457.83, 551.32],
  nfs: [670.42, 1138.82, 1659.14, 2592.8],
};
const PRINTED = Object.entries(TIMES)
  .flatMap(([target, seconds]) =>
    seconds.flatMap((real, index) =>
      ["real", "user", "sys", "wait"].map((part) =>
        row(
          { target, node: "node", file_size_bytes: [4, 8, 10, 20][index] ?? 0, operation: "write", part },
          part === "real" ? real : real / 3,
          1,
          ["PUBLISHED"],
        ),
      ),
    ),
  )
  .map(({ parts, measured }) => ({
    measured,
    parts: { ...parts, file_size_bytes: Number(parts.file_size_bytes) * GB },
  }));
const OWN = ["write", "read"].flatMap((operation) =>
  ["real", "user", "sys", "wait"].map((part) =>
    row({ target: "scratch", node: "n1", file_size_bytes: 4 * GB, operation, part, flush: "fsync" }, 90, 4),
  ),
);
const sides = [
  { name: "nus-svu", rows: PRINTED },
  { name: "blade", rows: OWN },
];

it("names other campaigns by cluster and by their own dimensions", () => {
  const rows = mergeSides(sides, plainTitle);
  expect(new Set(rows.map(({ parts }) => parts.target))).toEqual(
    new Set(["gpfs", "nfs", "blade scratch · write", "blade scratch · read"]),
  );
  expect(dimensionsOf(rows)).toEqual(["target", "file_size_bytes", "part"]);
});

it("draws the bars of both campaigns by size, and leaves a single campaign unchanged", () => {
  const layout = chooseLayout(mergeSides(sides, plainTitle), { x: "file_size_bytes" }, "seconds");
  expect(layout).toMatchObject({ kind: "parts", axes: ["file_size_bytes", "target"], pins: {} });
  expect(mergeSides([{ name: "", rows: PRINTED }], plainTitle)).toEqual(PRINTED);
});

it("stacks the parts of each file system in groups of one file size, the smallest first", () => {
  const layout = chooseLayout(PRINTED, { kind: "parts", x: "file_size_bytes" }, "seconds");
  const measure = { key: "duration", title: "Duration", description: "", unit: "seconds" } as const;
  const look = {
    measure: { ...measure, query: { metric: "duration" } },
    titleOf: plainTitle,
    order: new Map(),
    scheme: "light",
  } as const;
  const { data, layout: drawn } = drawPanels(layout, look).panels[0]?.figure ?? { data: [], layout: {} };
  expect(drawn.xaxis?.type).toBe("multicategory");
  expect(data.map(({ name }) => name)).toEqual(["user", "sys", "wait", "real, each run"]);
  expect(data[0]).toMatchObject({
    x: [
      ["4 GB", "4 GB", "8 GB", "8 GB", "10 GB", "10 GB", "20 GB", "20 GB"],
      ["gpfs", "nfs", "gpfs", "nfs", "gpfs", "nfs", "gpfs", "nfs"],
    ],
  });
});

it("divides published values by the chosen baseline", () => {
  const { base, dimensions, rows } = chooseLayout(PRINTED, { against: "gpfs" }, "seconds");
  const ratios = ratiosTo(base ?? { name: "", text: "" }, rows, dimensions);
  const wholes = rows.filter(({ parts }) => parts.target === "nfs" && parts.part === "real");
  expect(wholes.map((one) => formatRoughFactor(ratios.get(one) ?? 0))).toEqual(["4.2", "4.3", "3.6", "4.7"]);
  expect([...ratios.keys()].every(({ parts }) => parts.target === "nfs")).toBe(true);
});

it("gives no ratio for an own single run", () => {
  const rows = [row({ target: "a" }, 2, 1), row({ target: "b" }, 4, 4)];
  expect(ratiosTo({ name: "target", text: "a" }, rows, ["target"]).size).toBe(0);
  const repeated = [row({ target: "a" }, 2, 4), row({ target: "b" }, 4, 4)];
  expect([...ratiosTo({ name: "target", text: "a" }, repeated, ["target"]).values()]).toEqual([2]);
});
