/** Of trends: find the change of two years and the run behind it; take along what is shown. */

import { readFile } from "node:fs/promises";
import { expect, type Page, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { objections } from "./look";
import { items } from "./surroundings";

const DAYS = 730;
const CHANGED_ON = 500;
const DAY_MILLISECONDS = 86_400_000;
const FIRST = Date.UTC(2024, 11, 1);

const dayAt = (day: number) => new Date(FIRST + day * DAY_MILLISECONDS).toISOString();

/** The page opens on the first workload that agents announced, which need not have measured anything. */
async function openTrend(page: Page): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: "Trends" }).click();
  await page.getByRole("link", { name: "e2e", exact: true }).click();
  await page.getByLabel("Workload", { exact: true }).selectOption("fio");
}

/** Two years of a series that this iotide has measured once: its own points, told again for each day. */
async function tellTwoYears(page: Page): Promise<void> {
  await page.route(/\/api\/v1\/series\/\d+\/points/, async (route) => {
    const answer = await route.fetch();
    const told = await answer.json();
    const [median = 1, cellId, campaignId] = [told.median[0], told.cell_id[0], told.campaign_id[0]];
    const days = Array.from({ length: DAYS }, (_, day) => day);
    const medians = days.map((day) => median * (day < CHANGED_ON ? 1 : 0.8) * (1 + 0.01 * Math.sin(day * 7)));
    const years = {
      at: days.map(dayAt),
      median: medians,
      low: medians,
      high: medians,
      n: days.map(() => 2),
      flags: days.map(() => []),
      // The run that was really measured stands where the series changed.
      cell_id: days.map((day) => (day === CHANGED_ON ? cellId : -1 - day)),
      campaign_id: days.map(() => campaignId),
    };
    await route.fulfill({ response: answer, json: { ...told, ...years } });
  });
  await page.route(/\/api\/v1\/series\/\d+\/analysis/, async (route) => {
    const answer = await route.fetch();
    const told = await answer.json();
    const points = await page.request.get(`/api/v1/series/${told.series_id}/points`);
    const { median, cell_id } = await points.json();
    if (median.length === 0) return route.fulfill({ response: answer, json: told });
    const change = {
      id: told.series_id,
      series_id: told.series_id,
      at: dayAt(CHANGED_ON),
      previous_at: dayAt(CHANGED_ON - 1),
      cell_id: cell_id[0],
      n_before: CHANGED_ON,
      n_after: DAYS - CHANGED_ON,
      median_before: median[0],
      median_after: median[0] * 0.8,
      shift_ratio: -0.2,
      direction: "worse",
      p_value: 0.000_001,
      words: `20.0 % lower, worse: ${DAYS - CHANGED_ON} points against ${CHANGED_ON} before`,
      found_at: dayAt(DAYS),
      confirmed_at: dayAt(DAYS),
      detector: "kernel-cpd-2",
    };
    await route.fulfill({ response: answer, json: { ...told, course: "changed", changes: [change] } });
  });
}

test("find the change on a two-year trend and open the run behind it", async ({ page }) => {
  await tellTwoYears(page);
  await inFewClicks(page, async () => {
    await openTrend(page);
    const changes = page.getByRole("table", { name: "What changed" });
    await expect(changes.getByText(/20\.0 % lower, worse: 230 points/).first()).toBeVisible();
    await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
    await changes.getByRole("button").first().click();
    const run = page.getByRole("table", { name: "Runs of the point" }).getByRole("link", { name: /^\d+$/ });
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
});

for (const scheme of ["light", "dark"] as const)
  test(`a trend with its lanes and small charts has nothing that axe objects to, ${scheme}`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await tellTwoYears(page);
    await inFewClicks(page, async () => {
      await openTrend(page);
      await page.getByText("Each target").click();
      await expect(page.getByRole("table", { name: "Numbers side by side" })).toBeVisible();
      expect(await objections(page)).toEqual([]);
      await page.getByRole("button", { name: /^Export Trend of/ }).click();
      await expect(page.getByRole("menuitem", { name: "Parquet" })).toBeVisible();
    });
  });
