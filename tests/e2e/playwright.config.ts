/** Playwright's configuration; `test_browser.py` starts Playwright with a whole iotide and passes its address. */

import { defineConfig } from "@playwright/test";
import { given } from "./surroundings";

export default defineConfig({
  testDir: ".",
  forbidOnly: true,
  workers: 1,
  timeout: 400_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  use: {
    actionTimeout: 60_000,
    baseURL: given("IOTIDE_URL"),
    // A trace films every step even of successful walks, at more than the cost of the walk itself.
    screenshot: "only-on-failure",
    // The CPU draws animations, sixty times a second.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: given("IOTIDE_CHROMIUM"),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    },
  },
});
