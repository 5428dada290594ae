// Writes src/api/schema.d.ts from openapi.json; with --check, says whether it is up to date.
// Prose, examples and error answers are left out: pages read types, and every error becomes an ApiError.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const PROSE = new Set(["summary", "description", "example", "examples", "title"]);
const SOURCE = new URL("../openapi.json", import.meta.url);
const CLIENT = new URL("../src/api/schema.d.ts", import.meta.url);

/** Returns the document without prose; the keys of `properties` are names of fields, whatever they read. */
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
const text = astToString(await openapiTS(document));
if (!process.argv.includes("--check")) await writeFile(CLIENT, text);
else if ((await readFile(CLIENT, "utf8")) !== text) {
  process.stderr.write("src/api/schema.d.ts is not what openapi.json says. Run: ./dev generate\n");
  process.exitCode = 1;
}
