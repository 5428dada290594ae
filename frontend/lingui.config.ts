/** `npm run texts` writes the page texts to src/locales/en.po for translators. */

import { defineConfig } from "@lingui/cli";
import { formatter } from "@lingui/format-po";

export default defineConfig({
  sourceLocale: "en",
  locales: ["en"],
  // Each module with texts imports the language: a module in another chunk might otherwise run before it is set.
  runtimeConfigModule: ["@/lib/language", "i18n"],
  catalogs: [{ path: "<rootDir>/src/locales/{locale}", include: ["src"], exclude: ["**/*.test.*"] }],
  format: formatter({ lineNumbers: false }),
});
