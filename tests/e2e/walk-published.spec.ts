/**
 * Published results: the table of NUS as in its article, with the ratios of its own numbers, next to your own
 * results.
 */

import { expect, type Page, test } from "@playwright/test";
import { items, signIn } from "./surroundings";

const RATIOS = ["4.2", "4.3", "3.6", "4.7"];

test("published results next to one's own", async ({ page, request }) => {
  await signIn(page);
  await page.goto("/");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Compare" }).click();
  await page.getByRole("link", { name: "Published results" }).click();
  await page.getByRole("link", { name: /^Duration of dd for files of four sizes/ }).click();
  await seeBars(page);
  await seeRatios(page);
  const own = (await items(request, "campaigns")).find(({ name }) => name === "every-workload");
  await page.getByRole("combobox", { name: "Compare with your campaign" }).fill(String(own?.id));
  await page.getByRole("option", { name: /every-workload/ }).click();
  await expect(page).toHaveURL(new RegExp(`own=${own?.id}`));
  await expect(
    page
      .getByRole("table", { name: "Table of Duration" })
      .getByText(/^e2e scratch/)
      .first(),
  ).toBeAttached();
  await seeSource(page);
});

/** Four parts, three of them stacked, for three file systems at each of four sizes. */
async function seeBars(page: Page): Promise<void> {
  const figure = page.locator("figure").first();
  await expect(figure.locator(".barlayer .trace")).toHaveCount(3);
  for (const trace of await figure.locator(".barlayer .trace").all())
    await expect(trace.locator(".point")).toHaveCount(12);
  for (const part of ["user", "sys", "wait", "real, each run"])
    await expect(figure.locator(".legendtext").getByText(part, { exact: true })).toBeVisible();
  const places = figure.locator(".xaxislayer-above");
  for (const name of ["4 GB", "8 GB", "10 GB", "20 GB", "gpfs", "local", "nfs"])
    await expect(places.getByText(name, { exact: true }).first()).toBeVisible();
}

async function seeRatios(page: Page): Promise<void> {
  await expect(page.getByText("“10 times” is not supported")).toBeVisible();
  const claimed = page.getByRole("table", { name: "Ratios of nfs to gpfs" });
  await expect(claimed.locator("td.iotide-strong")).toHaveText(RATIOS);
  await page.getByText("Table of Duration", { exact: true }).click();
  const wholes = page
    .getByRole("table", { name: "Table of Duration" })
    .getByRole("row")
    .filter({ has: page.getByRole("cell", { name: "nfs", exact: true }) })
    .filter({ has: page.getByRole("cell", { name: "real", exact: true }) });
  await expect(wholes).toHaveCount(RATIOS.length);
  for (const [index, ratio] of RATIOS.entries())
    await expect(wholes.nth(index).getByRole("cell", { name: ratio, exact: true })).toBeVisible();
}

/** The page of such a run shows where it was printed, and offers no way to change it. */
async function seeSource(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Campaign", exact: true }).click();
  await expect(page.getByRole("link", { name: "published" }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Add repeats" })).toHaveCount(0);
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByRole("tabpanel").getByRole("link", { name: /^\d+$/ }).first().click();
  // Each remaining row of the list shows this caution, too.
  await expect(page.getByRole("heading", { name: /^Run \d+$/ })).toBeVisible();
  await page.getByRole("button", { name: /Flags$/ }).click();
  await expect(page.getByRole("cell", { name: "Published, not measured here" })).toBeVisible();
  await expect(page.getByText(/Infiniband Interconnects, table of dd times/).first()).toBeVisible();
}
