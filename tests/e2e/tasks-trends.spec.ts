/** Tasks on trends: find the change of a year and the run behind it; export what is shown. */

import { readFile } from "node:fs/promises";
import { expect, type Page, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { objections } from "./look";
import { items } from "./surroundings";

/** The sample data contains one remount of its NFS target, two fifths of the way. */
async function openTrend(page: Page): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: "Trends" }).click();
  await page.getByRole("link", { name: "demo-studio · projects · read", exact: true }).click();
}

test("find the change on a trend of a year and open the run behind it", async ({ page }) => {
  await inFewClicks(page, async () => {
    await openTrend(page);
    const changes = page.getByRole("table", { name: "Changes" });
    await expect(changes.getByText(/2[0-9]\.\d % lower, worse \(\d{3} points/).first()).toBeVisible();
    await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
    await changes.getByRole("button").first().click();
    const run = page
      .getByRole("table", { name: "Runs behind this data point" })
      .getByRole("link", { name: /^\d+$/ });
    await run.first().click();
    await expect(page.getByRole("heading", { name: /^Run \d+$/ })).toBeVisible();
  });
});

test("export what is shown", async ({ page, request }) => {
  const [campaign] = await items(request, "campaigns?state=finished");
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("button", { name: "Export Campaigns" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "CSV" }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe("campaigns.csv");
    const text = await readFile(await file.path(), "utf8");
    expect(text.split("\r\n").length).toBeGreaterThan(2);
    expect(text).toContain(campaign?.name);
  });
  await page.getByRole("button", { name: "Export Campaigns" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Parquet" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("campaigns.parquet");
  const magic = (await readFile(await file.path())).subarray(-4).toString();
  expect(magic).toBe("PAR1");
});

for (const scheme of ["light", "dark"] as const)
  test(`a trend with its lanes and small charts has nothing that axe objects to, ${scheme}`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await inFewClicks(page, async () => {
      await page.getByRole("navigation").getByRole("link", { name: "Trends" }).click();
      await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
      expect(await objections(page)).toEqual([]);
      await page.getByRole("link", { name: "demo-studio · projects · read", exact: true }).click();
      await expect(page.getByRole("table", { name: "Changes" })).toBeVisible();
      expect(await objections(page)).toEqual([]);
      await page.getByRole("button", { name: /^Export Throughput of dd/ }).click();
      await expect(page.getByRole("menuitem", { name: "Parquet with every column" })).toBeVisible();
    });
  });
