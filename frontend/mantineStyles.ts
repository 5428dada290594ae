/** In a build, each chunk brings the styles of the Mantine components in it, and none of the others. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const styles = fileURLToPath(new URL("./node_modules/@mantine/core/styles/", import.meta.url));
/** What all components stand on, in the order of Mantine's documentation. */
const BASE = ["baseline", "default-css-variables", "global"];
const WHOLE = /@mantine\/core\/styles\.layer\.css$/;
/** The class names of one component; its styles bear the same name. */
const CLASSES = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/;

/**
 * All of Mantine's styles are 36 kB gzip, of which the overview needs a third. `npm run dev` takes them whole, since there
 * Mantine is bundled before plug-ins see it. Layers make the order in which chunks arrive without meaning for app.css.
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
