import verdicts from "@testing/verdicts.json";
import { parquetReadObjects } from "hyparquet";
import { expect, it } from "vitest";
import type { CampaignComparison, ComparedPair, SidesComparison } from "@/api/types";
import { type ExportTable, toCsv } from "@/lib/exported";
import { toParquet } from "@/lib/parquet";
import { chooseNumber, PAIR, pairRow, runsFigure, sidesRow } from "./compared";
import { comparedTable } from "./exports";

const UNNAMED = { name: "", distinction: "", isOfMany: false };

const NUMBERS = ["value", "low", "high", "n", "ratio", "ci_low", "ci_high", "median_ratio", "p"];
const COLUMNS = [
  ...["row", "side", "against", "campaign_id", "cell_id", "cell", "nodes", "targets", "variant", "workload"],
  ...["metric", "target", "value", "low", "high", "n", "unit", "flags", "ratio", "ci_low", "ci_high"],
  ...["median_ratio", "p", "verdict", "is_discovery", "basis", "looks", "is_alike"],
];
const { pairs } = verdicts.comparison as unknown as CampaignComparison;
const found = verdicts.sides as unknown as SidesComparison;

function pairsTable(of: readonly ComparedPair[]): ExportTable {
  return comparedTable({ names: PAIR, against: 0, rows: of.map((pair) => pairRow(pair, UNNAMED)) });
}

function sidesTable(of: SidesComparison): ExportTable {
  const rows = of.rows.map((row) => sidesRow(of, row, UNNAMED));
  return comparedTable({ names: of.sides.map(String), against: of.against, rows });
}

function parseCsv(text: string): Record<string, string>[] {
  const [head = [], ...lines] = text
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
  return lines.map((line) => Object.fromEntries(head.map((name, place) => [name, line[place] ?? ""])));
}

it.each<[string, ExportTable]>([
  ["pairs of campaigns", pairsTable(pairs)],
  ["sides", sidesTable(found)],
])("writes %s as numbers with unit, flags and labels in separate columns", (_, table) => {
  const records = parseCsv(toCsv(table));
  const columns = table.columns.filter((name) => !/^(option|label)_/.test(name));
  expect(columns).toEqual(COLUMNS);
  expect(records.length).toBeGreaterThan(10);
  for (const record of records) {
    for (const name of NUMBERS) expect(record[name]).toMatch(/^(-?\d+(\.\d+)?(e[+-]?\d+)?)?$/);
    expect(Number(record.low)).toBeLessThanOrEqual(Number(record.value));
    expect(Number(record.high)).toBeGreaterThanOrEqual(Number(record.value));
    expect(record.unit).toMatch(/^[a-z_]+$/);
    expect(record.verdict).toMatch(/^[a-z_]*$/);
    expect(record.flags).toMatch(/^([A-Z_]+( |$))*$/);
    expect(record.verdict === "").toBe(record.against === "");
  }
});

it("exports the values of a pair with all digits", () => {
  const [a, b] = parseCsv(toCsv(pairsTable(pairs)));
  const metric = pairs[0]?.metrics[0];
  expect(a).toMatchObject({ side: "A", against: "", value: String(metric?.median_a), ratio: "" });
  expect(b).toMatchObject({
    side: "B",
    against: "A",
    value: String(metric?.median_b),
    n: String(metric?.n_b),
    low: String(Math.min(...(metric?.values_b ?? []))),
    ratio: String(metric?.ratio ?? ""),
    ci_low: String(metric?.low ?? ""),
    p: String(metric?.p_value ?? ""),
    verdict: metric?.verdict,
  });
});

it("gives each side the flags of its own runs", () => {
  const [pair] = pairs;
  const [metric] = pair?.metrics ?? [];
  if (!pair || !metric) throw new Error("no pair");
  const flagged = { ...metric, flags: ["FSYNC", "STEADY"], flags_a: ["STEADY"], flags_b: ["FSYNC"] };
  const compared = { names: PAIR, against: 0, rows: [pairRow({ ...pair, metrics: [flagged] }, UNNAMED)] };
  expect(parseCsv(toCsv(comparedTable(compared))).map(({ flags }) => flags)).toEqual(["STEADY", "FSYNC"]);
  const { data } = runsFigure(chooseNumber(compared, "", String).drawn, PAIR, "light");
  const hovers = data.map((trace) => JSON.stringify(trace));
  expect(hovers.filter((hover) => hover.includes("Not steady")).length).toBe(1);
  expect(hovers.filter((hover) => hover.includes("Not flushed")).length).toBe(1);
});

it("exports the value of each side for options that differ", () => {
  const row = found.rows[0];
  if (!row) throw new Error("no row");
  const table = sidesTable({
    ...found,
    by: "options.block_size_bytes",
    sides: found.sides.map((_, place) => 4096 * (place + 1)),
    rows: [{ ...row, options: { direct: true, paths: ["a", "b"] } }],
  });
  const [first, second] = parseCsv(toCsv(table)).filter(({ metric }) => metric === row.metrics[0]?.metric);
  expect(first).toMatchObject({
    option_block_size_bytes: "4096",
    option_direct: "true",
    option_paths: "a b",
  });
  expect(second?.option_block_size_bytes).toBe("8192");
});

it("keeps numbers as numbers in Parquet", async () => {
  const table = pairsTable(pairs);
  const records = await parquetReadObjects({ file: toParquet(table) });
  expect(records.map(({ value }) => value)).toEqual(
    pairs.flatMap(({ metrics }) => metrics.flatMap(({ median_a, median_b }) => [median_a, median_b])),
  );
  for (const name of ["value", "low", "high", "n"]) expect(typeof records[0]?.[name]).toBe("number");
  expect(records.some(({ ci_low }) => typeof ci_low === "number")).toBe(true);
});
