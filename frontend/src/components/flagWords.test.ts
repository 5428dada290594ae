import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import {
  areComparable,
  cautionsOf,
  codesOf,
  commonTo,
  FLAG_WORDS,
  flagsConcerning,
  missingFlags,
  notesOf,
  rankOfFlag,
  remarksOf,
} from "./flagWords";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
const SHARED = JSON.parse(
  readFileSync(new URL("../../../tests/data/cautions.json", import.meta.url), "utf-8"),
) as Record<string, string>;

it("has the same words as the command line", () => {
  const own = Object.entries(FLAG_WORDS).map(([code, { short }]) => [code, short]);
  expect(Object.fromEntries(own)).toEqual(SHARED);
});

it("treats an unknown flag as a caution", () => {
  expect(cautionsOf(["CACHE_DROP", "OUTLIER", "SMOKE"])).toEqual(["read warm", "SMOKE"]);
});

it("separates doubts, notes and properties of the plan by rank", () => {
  const codes = ["FSYNC", "ZEROES", "FOREIGN_LOAD", "DURATION"];
  expect(cautionsOf(codes)).toEqual(["not flushed", "reducible data"]);
  expect(notesOf(codes)).toEqual(["other load"]);
  expect(cautionsOf(["DURATION"], ["DURATION"])).toEqual(["too short"]);
  expect(rankOfFlag({ code: "DURATION", effect: "rejected" })).toBe(1);
});

it("compares only numbers with the same flags of rank 2", () => {
  expect(areComparable(["ZEROES", "OUTLIER"], ["DURATION", "ZEROES"])).toBe(true);
  expect(areComparable(["ZEROES"], [])).toBe(false);
  expect(areComparable([], ["SMOKE"])).toBe(false);
});

it("names a usual flag that a number lacks", () => {
  expect(missingFlags(["ZEROES"], ["CACHE_DROP", "STEADY", "ZEROES"])).toEqual(["CACHE_DROP"]);
});

it("finds the flags of a number by its labels", () => {
  const usual = { effect: "marked", measured: "", limit: "", target_id: null } as const;
  const flags = [
    { ...usual, code: "ZEROES", labels: {} },
    { ...usual, code: "CACHE_DROP", labels: { operation: "read" } },
  ] as const;
  const of = (operation: string) => codesOf(flagsConcerning(flags, { labels: { operation }, target_id: 3 }));
  expect(of("write")).toEqual(["ZEROES"]);
  expect(of("read")).toEqual(["ZEROES", "CACHE_DROP"]);
});

it("keeps flags of one target off values of another", () => {
  const flag = {
    code: "ZEROES",
    effect: "marked",
    measured: "",
    limit: "",
    labels: {},
    target_id: 3,
  } as const;
  const of = (target_id: number | null) => codesOf(flagsConcerning([flag], { labels: {}, target_id }));
  expect([of(3), of(4), of(null)]).toEqual([["ZEROES"], [], []]);
});

it("returns what all lists share", () => {
  expect(commonTo([["A", "B"], ["B"], ["B", "C"]])).toEqual(["B"]);
  expect(commonTo([])).toEqual([]);
});

it("sets measured values in bold only with MeasuredValue", () => {
  const bold = /iotide-strong"[^>]*>\s*<Quantity/;
  const found = readdirSync(SOURCES, { recursive: true, encoding: "utf-8" })
    .filter((path) => path.endsWith(".tsx") && !path.endsWith("MeasuredValue.tsx"))
    .filter((path) => bold.test(readFileSync(`${SOURCES}/${path}`, "utf-8")));
  expect(found).toEqual([]);
});

it("names a flag that rejects a number, counts it once, and never calls it usual", () => {
  const codes = ["FOREIGN_LOAD", "STEADY", "ZEROES"];
  expect(remarksOf(codes, ["FOREIGN_LOAD", "ZEROES"], ["FOREIGN_LOAD"])).toEqual({
    named: ["FOREIGN_LOAD"],
    usual: ["reducible data"],
    notes: ["not steady"],
  });
});
