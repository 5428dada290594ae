/** Users' main tasks, each in at most six clicks from the overview; tasks on one page are in `tasks-*.spec.ts`. */

import { expect, test } from "@playwright/test";
import { inFewClicks } from "./clicks";

test("schedule a recurring campaign", async ({ page }) => {
  const name = `every-night-${Date.now()}`;
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("link", { name: "every-workload" }).first().click();
    await page.getByRole("link", { name: "Duplicate" }).click();
    await page.getByLabel("Campaign name").fill(name);
    await page.getByText("Cron schedule").click();
    await expect(page.getByRole("list", { name: "Next firings" }).getByRole("listitem")).toHaveCount(5);
    await page.getByRole("button", { name: "Create schedule" }).click();
    await expect(page.getByRole("table", { name: "Schedules" }).getByText(name)).toBeVisible();
  });
});
