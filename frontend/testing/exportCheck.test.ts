import { expect, it } from "vitest";
import { displayedNumbers } from "./exportCheck";

const PAGES = import.meta.glob<string>("../**/*.tsx", { query: "?raw", import: "default", eager: true });
/** Use Datum, Quantity or OptionValue instead of formatting a number in a cell. */
const BARE =
  /<td[^>]*>\s*\{[^<}]*\b(format(Value|Shift|P|Duration|Percent|Factor|RoughFactor|Number)|optionValue)\(/g;

/** Printed tables have no export. */
function isPaper(page: string): boolean {
  return page.includes("PaperTable");
}

it.each([
  ...["1.62 GB/s", "1.62 GB/s 4 runs, 1.10 GB/s to 1.96 GB/s", "+12.0 %", "−3.1 %", "64 MiB", "12,400"],
  ...[
    "3 min 20 s",
    "8.18 us",
    "< 0.0001",
    "0.0123",
    "ratio 1.05",
    "1 run",
    "4 runs",
    "1.5 kop/s",
    "about 22 s",
  ],
])("finds %s, which only people can read", (text) => {
  expect(displayedNumbers({ columns: ["X"], rows: [[text]] })).toEqual([`X: "${text}"`]);
});

it.each([
  "node07",
  "8.0 to 15.2 % higher",
  "0.2.0",
  "2026-11-21T10:00:00Z",
  "CACHE_SIZE",
  "1 2 3",
  1.5,
  null,
])("leaves %s alone", (cell) => {
  expect(displayedNumbers({ columns: ["X"], rows: [[cell]] })).toEqual([]);
});

it("finds no cell that formats a number without its data", () => {
  const found = Object.entries(PAGES).flatMap(([path, text]) =>
    path.includes(".test.") || isPaper(text)
      ? []
      : [...text.matchAll(BARE)].map(([match]) => `${path}: ${match}`),
  );
  expect(Object.keys(PAGES).length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
