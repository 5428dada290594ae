// Writes src/api/schema.d.ts and src/api/flagRanks.ts from openapi.json. With --check, fails if one is out of date.
// Leaves out prose, examples and error responses: pages use the types only, and every error becomes an ApiError.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const PROSE = new Set(["summary", "description", "example", "examples", "title"]);
const SOURCE = new URL("../openapi.json", import.meta.url);
const API = new URL("../src/api/", import.meta.url);

/** Return the document without prose. Keys of `properties` are field names and stay. */
function withoutProse(node, namesFields = false) {
  if (Array.isArray(node)) return node.map((item) => withoutProse(item));
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => namesFields || !PROSE.has(key))
      .map(([key, value]) => [key, withoutProse(value, key === "properties" && !namesFields)]),
  );
}

const document = withoutProse(JSON.parse(await readFile(SOURCE, "utf8")));
for (const operation of Object.values(document.paths).flatMap(Object.values)) {
  operation.responses = Object.fromEntries(
    Object.entries(operation.responses).filter(([status]) => Number(status) < 400),
  );
}
const ranks = Object.entries(document.components.schemas.FlagCode["x-ranks"]);
const files = {
  "schema.d.ts": astToString(await openapiTS(document)),
  "flagRanks.ts": [
    "/** Ranks of quality flags, from openapi.json. */",
    "export const FLAG_RANKS = {",
    ...ranks.map(([code, rank]) => `  ${code}: ${rank},`),
    "} as const;\n",
  ].join("\n"),
};
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, API);
  if (!process.argv.includes("--check")) await writeFile(file, text);
  else if ((await readFile(file, "utf8")) !== text) {
    process.stderr.write(`src/api/${name} does not match openapi.json. Run: ./dev generate\n`);
    process.exitCode = 1;
  }
}
