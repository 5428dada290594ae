/// <reference types="vitest/config" />
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { linguiMacros } from "./linguiMacros";
import { mantineStyles } from "./mantineStyles";

const source = fileURLToPath(new URL("./src", import.meta.url));
const testing = fileURLToPath(new URL("./testing", import.meta.url));

/** Tests of pages that replace a module, which would stay replaced for the tests after them. */
const REPLACING = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter(
    (name) => name.endsWith(".test.tsx") && readFileSync(join(source, name), "utf8").includes("vi.mock("),
  )
  .map((name) => `src/${name}`);

/** What pages may share, but for plotly and all that it brings, which only those with a chart load. */
const SHARED =
  /[\\/](frontend[\\/]src[\\/](?!plots[\\/])|node_modules[\\/](@mantine|@tanstack|@floating-ui|@lingui|clsx)[\\/])/;
/** Less than this, before minifying, is no file of its own. From 15 kB on, pages load twice of what they use. */
const LEAST_SHARED_BYTES = 4_000;

const PAGES = {
  environment: "happy-dom",
  setupFiles: "testing/setup.ts",
  // Longer than one wait within a test, see there.
  testTimeout: 20_000,
};

export default defineConfig({
  plugins: [linguiMacros(), react(), mantineStyles],
  resolve: {
    alias: [
      // plotly's map traces are not in our bundle; their style sheet would still cost 83 kB.
      { find: /^maplibre-gl\/dist\/maplibre-gl\.css$/, replacement: `${source}/plots/empty.css` },
      { find: "@", replacement: source },
      { find: "@testing", replacement: testing },
    ],
  },
  define: { global: "globalThis" },
  build: {
    manifest: true,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        // Without groups, what a page shares with another is a file of its own: a hundred requests a page.
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"], priority: 2 },
            {
              name: "shared",
              test: SHARED,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: LEAST_SHARED_BYTES,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": process.env.IOTIDE_URL ?? "http://127.0.0.1:8470" } },
  test: {
    restoreMocks: true,
    // What needs a page (a DOM, an address) is named .test.tsx; everything else runs without one.
    projects: [
      {
        extends: true,
        test: {
          name: "logic",
          environment: "node",
          include: ["{src,testing}/**/*.test.ts"],
          // Each shared module is loaded once, not for every file: loading is most of the time of these.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { ...PAGES, name: "pages", include: ["src/**/*.test.tsx"], exclude: REPLACING, isolate: false },
      },
      { extends: true, test: { ...PAGES, name: "pages with a module replaced", include: REPLACING } },
    ],
  },
});
