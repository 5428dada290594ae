import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
/** Where numbers and times become text. */
const FORMATTERS = new Set(["lib/units.ts", "lib/time.ts"]);
/** Ways to make a text of a number; plotly's hover has its own. */
const FORMATS =
  /\.(toFixed|toPrecision|toLocaleString|toExponential)\(|Intl\.NumberFormat|%\{[xyz]:(?![,.]*\.3~r|\.0f|\|)/;

it("makes texts of numbers in lib/units.ts alone", () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf-8" }).filter(
    (path) => /\.tsx?$/.test(path) && !FORMATTERS.has(path) && !path.includes(".test."),
  );
  expect(sources.length).toBeGreaterThan(300);
  const found = sources.filter((path) => FORMATS.test(readFileSync(`${SOURCES}/${path}`, "utf-8")));
  expect(found).toEqual([]);
});
