/** How Playwright runs these walks; `test_browser.py` starts it beside a whole iotide and says where that is. */

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
    // A trace films every step of walks that succeed too, at more than the cost of the walk itself.
    screenshot: "only-on-failure",
    // The processor draws what moves, sixty times a second.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: given("IOTIDE_CHROMIUM"),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    },
  },
});
