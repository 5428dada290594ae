/**
 * Every number of runs with every verdict, as the server's statistics judge generated runs
 * (`tests/made_verdicts.py`).
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { look, openLoggedIn } from "./look";
import { items } from "./surroundings";

const ANSWERS = join(__dirname, "../../frontend/testing/verdicts.json");
const PAIRS = 12;

test("what may be said of so many runs", async ({ browser, request }) => {
  const answers = JSON.parse(readFileSync(ANSWERS, "utf8"));
  const [a, b] = await items(request, "campaigns?state=finished");
  const page = await openLoggedIn(browser);
  await page.route(/\/api\/v1\/comparison\?/, (route) => route.fulfill({ json: answers.comparison }));
  await page.route(/\/api\/v1\/comparison\/sides\?/, (route) => route.fulfill({ json: answers.sides }));
  await look(page, {
    name: "verdicts-of-two",
    path: `/compare?a=${a?.id}&b=${b?.id}`,
    sign: async () => {
      await page.getByRole("button", { name: "All values" }).click();
      await expect(page.getByRole("table", { name: /^Metrics of/ })).toHaveCount(PAIRS);
    },
  });
  await look(page, {
    name: "verdicts-of-many",
    path: `/compare?campaigns=%5B${a?.id}%5D`,
    sign: async () => {
      await page.getByRole("button", { name: "All values" }).click();
      await expect(page.getByRole("table", { name: "Verdicts" })).toBeVisible();
    },
  });
  await page.context().close();
});
