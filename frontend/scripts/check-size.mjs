// Prints the gzip size of the overview's first paint (JS and CSS without lazy chunks) and fails above the limit.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_BYTES = 200_000;
const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8"));

/** Return the files of an entry and of its static imports. */
function filesOf(name, seen = new Set()) {
  const chunk = manifest[name];
  if (seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const css of chunk.css ?? []) seen.add(css);
  for (const imported of chunk.imports ?? []) filesOf(imported, seen);
  return seen;
}

const sizes = [...filesOf("index.html")].map((file) => ({
  file,
  bytes: gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length,
}));
const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
for (const { file, bytes } of sizes)
  process.stdout.write(`${(bytes / 1000).toFixed(1).padStart(8)} kB  ${file}\n`);
process.stdout.write(
  `first paint: ${(total / 1000).toFixed(1)} kB gzip of JS and CSS, limit ${LIMIT_BYTES / 1000} kB\n`,
);
if (total > LIMIT_BYTES) process.exit(1);
