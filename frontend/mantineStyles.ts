/** In a build, each chunk loads only the styles of its own Mantine components. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const styles = fileURLToPath(new URL("./node_modules/@mantine/core/styles/", import.meta.url));
/** Styles that all components need, in the order of Mantine's documentation. */
const BASE = ["baseline", "default-css-variables", "global"];
const WHOLE = /@mantine\/core\/styles\.layer\.css$/;
/** Class names of a component; its style sheet has the same name. */
const CLASSES = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/;

/**
 * Mantine's styles are 36 kB gzip; the overview needs a third. `npm run dev` loads all of them, since it bundles Mantine
 * before plug-ins run. Layers make the order of chunks irrelevant for app.css.
 */
export const mantineStyles: Plugin = {
  name: "mantine-styles",
  apply: "build",
  enforce: "pre",
  load(id) {
    if (!WHOLE.test(id)) return null;
    return BASE.map((name) => readFileSync(`${styles}${name}.layer.css`, "utf8")).join("\n");
  },
  transform(code, id) {
    const name = CLASSES.exec(id)?.[1];
    return name ? { code: `import "@mantine/core/styles/${name}.layer.css";\n${code}`, map: null } : null;
  },
};
