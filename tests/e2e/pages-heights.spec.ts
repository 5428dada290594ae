/** Campaigns answer on few screens, and print on few pages. */

import { expect, type Page, test } from "@playwright/test";
import { openLoggedIn } from "./look";
import { type Item, items } from "./surroundings";

const MOST_PIXELS = { campaign: 1800, iozone: 2500 };
const MOST_PAGES = 3;

interface Listed extends Item {
  readonly cluster_name: string;
}

/** Height of the page once all of it has loaded. */
async function heightOf(page: Page, path: string): Promise<number> {
  await page.goto(path);
  await expect(page.getByRole("region", { name: "Results" }).getByRole("table").first()).toBeVisible();
  await expect(page.locator("figure .main-svg").first()).toBeVisible();
  await settled(page);
  return page.evaluate(() => document.documentElement.scrollHeight);
}

async function settled(page: Page): Promise<void> {
  await expect(page.locator("[aria-busy=true]:visible, [aria-label='Loading chart']:visible")).toHaveCount(0);
}

async function printedPages(page: Page, path: string): Promise<number> {
  await page.goto(path);
  await expect(page.getByRole("article").getByRole("img").first()).toBeVisible();
  await settled(page);
  const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
  return pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

test("campaigns with many workloads and with a whole IOzone matrix", async ({ browser, request }) => {
  const campaigns = await items<Listed>(request, "campaigns?state=finished&limit=200");
  const many = campaigns.find(({ name }) => name === "every-workload");
  const clusters = await items(request, "clusters");
  const studio = clusters.find(({ name }) => name === "demo-studio")?.id;
  const [iozone] = await items<Listed>(request, `runs?cluster_id=${studio}&workload=iozone&limit=1`);
  const matrix = (iozone as unknown as { campaign_id: number }).campaign_id;
  const page = await openLoggedIn(browser);
  expect.soft(await heightOf(page, `/campaigns/${many?.id}`)).toBeLessThanOrEqual(MOST_PIXELS.campaign);
  expect.soft(await heightOf(page, `/campaigns/${matrix}`)).toBeLessThanOrEqual(MOST_PIXELS.iozone);
  const surface = page.getByRole("region", { name: "Results" }).getByRole("link", { name: "Show surface" });
  await expect(surface.first()).toBeVisible();
  expect.soft(await printedPages(page, `/campaigns/${many?.id}/report`)).toBeLessThanOrEqual(MOST_PAGES);
  const compared = `/compare/report?campaigns=%5B${many?.id}%5D`;
  expect.soft(await printedPages(page, compared)).toBeLessThanOrEqual(MOST_PAGES);
  await page.context().close();
});
