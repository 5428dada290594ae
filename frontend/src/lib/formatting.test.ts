import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));
/** Modules that may format numbers and times. */
const FORMATTERS = new Set(["lib/units.ts", "lib/time.ts"]);
/** Formatting of numbers; plotly formats its own hover texts. */
const FORMATS =
  /\.(toFixed|toPrecision|toLocaleString|toExponential)\(|Intl\.NumberFormat|%\{[xyz]:(?![,.]*\.3~r|\.0f|\|)/;

it("formats numbers only in lib/units.ts", () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf-8" }).filter(
    (path) => /\.tsx?$/.test(path) && !FORMATTERS.has(path) && !path.includes(".test."),
  );
  expect(sources.length).toBeGreaterThan(300);
  const found = sources.filter((path) => FORMATS.test(readFileSync(`${SOURCES}/${path}`, "utf-8")));
  expect(found).toEqual([]);
});
