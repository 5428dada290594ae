/** Users' main tasks, each in at most six clicks from the overview; tasks on one page are in `tasks-*.spec.ts`. */

import { expect, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { post } from "./surroundings";

const MOST_CLICKS_OF_A_SUBMIT = 5;

test("schedule a recurring campaign", async ({ page }) => {
  const name = `every-night-${Date.now()}`;
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("link", { name: "every-workload" }).first().click();
    await page.getByRole("link", { name: "Duplicate" }).click();
    await page.getByLabel("Campaign name").fill(name);
    await page.getByRole("link", { name: "3 When" }).click();
    await page.getByRole("radio", { name: "Every night between" }).check();
    await expect(page.getByRole("list", { name: "Next firings" }).getByRole("listitem")).toHaveCount(5);
    await page.getByRole("button", { name: "Create schedule" }).click();
    await expect(page.getByRole("table", { name: "Schedules" }).getByText(name)).toBeVisible();
  });
});

test("submit a campaign over several sizes in at most five clicks", async ({ page, request }) => {
  const name = `sizes-${Date.now()}`;
  await inFewClicks(page, async () => {
    const cluster = page.getByRole("group", { name: "e2e", exact: true });
    await cluster.getByRole("link", { name: "New campaign here" }).click();
    await page.getByLabel("Campaign name").fill(name);
    // A single node of the cluster is selected already.
    await expect(page.getByRole("checkbox", { name: "node-1" })).toBeChecked();
    await page.getByRole("checkbox", { name: "scratch" }).click();
    await page.getByRole("button", { name: "Add dd", exact: true }).click();
    await page.getByRole("combobox", { name: "File size" }).fill("1M, 2M, 4M");
    await expect(page.getByText("Sweep of 3: 1 MiB, 2 MiB, 4 MiB")).toBeVisible();
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "2 Review" }).click();
    await expect(page.getByText("3 configurations, 12 runs").first()).toBeVisible();
    await page.getByRole("button", { name: "Submit campaign" }).click();
    await expect(page.getByRole("heading", { name })).toBeVisible();
  });
  // Other walks need the node.
  await post(request, `campaigns/${/campaigns\/(\d+)/.exec(page.url())?.[1]}/cancel`);
  const clicks = test.info().annotations.find(({ type }) => type === "clicks")?.description;
  expect(Number(clicks)).toBeLessThanOrEqual(MOST_CLICKS_OF_A_SUBMIT);
});
