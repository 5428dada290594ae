/// <reference types="vitest/config" />
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const source = fileURLToPath(new URL("./src", import.meta.url));

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: [
      // plotly's map traces are not in our bundle; their style sheet would still cost 83 kB.
      { find: /^maplibre-gl\/dist\/maplibre-gl\.css$/, replacement: `${source}/plots/empty.css` },
      { find: "@", replacement: source },
    ],
  },
  define: { global: "globalThis" },
  build: { manifest: true, chunkSizeWarningLimit: 2000 },
  server: { proxy: { "/api": process.env.IOTIDE_URL ?? "http://127.0.0.1:8080" } },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
