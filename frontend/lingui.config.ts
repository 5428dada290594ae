/** Where the texts of the interface are gathered for translators: `npm run texts` writes them into src/locales/en.po. */

import { defineConfig } from "@lingui/cli";
import { formatter } from "@lingui/format-po";

export default defineConfig({
  sourceLocale: "en",
  locales: ["en"],
  // Each module that has texts imports the language, or one in another chunk would name its texts before there is any.
  runtimeConfigModule: ["@/lib/language", "i18n"],
  catalogs: [{ path: "<rootDir>/src/locales/{locale}", include: ["src"], exclude: ["**/*.test.*"] }],
  format: formatter({ lineNumbers: false }),
});
