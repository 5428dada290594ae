import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { cautionsOf, commonTo, FLAG_WORDS, flagsConcerning } from "./flagWords";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
const SHARED = JSON.parse(
  readFileSync(new URL("../../../tests/data/cautions.json", import.meta.url), "utf-8"),
) as Record<string, string | null>;

it("says the cautions that the command line says", () => {
  const own = Object.entries(FLAG_WORDS).map(([code, { caution }]) => [code, caution]);
  expect(Object.fromEntries(own)).toEqual(SHARED);
});

it("takes a flag that it does not know for a caution", () => {
  expect(cautionsOf(["DURATION", "OUTLIER", "SMOKE"])).toEqual(["too short", "SMOKE"]);
});

it("finds the flags of a number by its labels", () => {
  const usual = { effect: "marked", measured: "", limit: "", target_id: null } as const;
  const flags = [
    { ...usual, code: "ZEROES", labels: {} },
    { ...usual, code: "CACHE_DROP", labels: { operation: "read" } },
  ] as const;
  const of = (operation: string) => flagsConcerning(flags, { labels: { operation }, target_id: 3 });
  expect(of("write")).toEqual(["ZEROES"]);
  expect(of("read")).toEqual(["ZEROES", "CACHE_DROP"]);
});

it("puts the flags of one target on no number of another", () => {
  const flag = {
    code: "ZEROES",
    effect: "marked",
    measured: "",
    limit: "",
    labels: {},
    target_id: 3,
  } as const;
  const of = (target_id: number | null) => flagsConcerning([flag], { labels: {}, target_id });
  expect([of(3), of(4), of(null)]).toEqual([["ZEROES"], [], []]);
});

it("says once what all numbers share", () => {
  expect(commonTo([["A", "B"], ["B"], ["B", "C"]])).toEqual(["B"]);
  expect(commonTo([])).toEqual([]);
});

it("sets no measured number in bold but through MeasuredValue", () => {
  const bold = /iotide-strong"[^>]*>\s*<Quantity/;
  const found = readdirSync(SOURCES, { recursive: true, encoding: "utf-8" })
    .filter((path) => path.endsWith(".tsx") && !path.endsWith("MeasuredValue.tsx"))
    .filter((path) => bold.test(readFileSync(`${SOURCES}/${path}`, "utf-8")));
  expect(found).toEqual([]);
});
