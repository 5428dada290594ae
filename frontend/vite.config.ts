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

/** Tests that replace a module need isolation: it would stay replaced in later tests. */
const REPLACING = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter(
    (name) => name.endsWith(".test.tsx") && readFileSync(join(source, name), "utf8").includes("vi.mock("),
  )
  .map((name) => `src/${name}`);

/** Code that pages may share, without plotly and its dependencies: only pages with charts load those. */
const SHARED =
  /[\\/](frontend[\\/]src[\\/](?!plots[\\/])|node_modules[\\/](@mantine|@tanstack|@floating-ui|@lingui|clsx)[\\/])/;

const SERVER = process.env.IOTIDE_URL ?? "http://127.0.0.1:8470";

const PAGES = {
  environment: "happy-dom",
  setupFiles: "testing/setup.ts",
  alias: [{ find: /^(\.|@\/plots)\/plotly$/, replacement: `${testing}/plotly.ts` }],
  // Longer than the waits of a test, see testing/setup.ts. The hook at the end of a file waits for modules too.
  testTimeout: 300_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  plugins: [linguiMacros(), react(), mantineStyles],
  resolve: {
    alias: [
      // The bundle leaves out plotly's map traces, but would still load 83 kB of their styles.
      { find: /^maplibre-gl\/dist\/maplibre-gl\.css$/, replacement: `${source}/plots/empty.css` },
      { find: "@", replacement: source },
      { find: "@testing", replacement: testing },
    ],
  },
  define: { global: "globalThis" },
  build: {
    manifest: true,
    // .vite/license.md: the licences of packages that the pages contain ask for a copy of their text.
    license: true,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        // Without groups, each shared module is a file of its own: a hundred requests a page.
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"], priority: 2 },
            {
              name: "shared",
              test: SHARED,
              minShareCount: 2,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": SERVER, "/docs": SERVER } },
  test: {
    restoreMocks: true,
    // Tests that need a DOM or an address are named .test.tsx; all others run without one.
    projects: [
      {
        extends: true,
        test: {
          name: "logic",
          environment: "node",
          include: ["{src,testing}/**/*.test.ts"],
          // Load each shared module once, not per file: loading dominates the time of these tests.
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
