/** The difference of two IOzone surfaces is found, in at most six clicks from the overview. */

import { expect, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { objections } from "./look";

test("see the difference surface of two IOzone runs", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Compare" }).click();
    await page.getByRole("link", { name: "Surfaces" }).click();
    await page.getByRole("combobox", { name: "Surface B" }).click();
    await page.getByRole("option", { name: /^surface-before/ }).click();
    const difference = page.getByRole("figure", { name: /^Difference of Throughput/ });
    await expect(difference.locator(".heatmaplayer .hm")).toBeVisible();
    await page.getByText("B / A in %").click();
    await expect(difference.getByText("B / A", { exact: true })).toBeVisible();
    const fields = page.getByRole("table", { name: "Values of the surface" });
    await expect(fields.getByRole("row")).toHaveCount(13);
    await expect(fields.getByText("128 KiB").first()).toBeAttached();
    // One run a side: a ratio that claims nothing.
    await expect(fields.getByText(/^ratio \d+(\.\d+)?$/)).toHaveCount(12);
    await expect(fields.getByText(/\d %/)).toHaveCount(0);
  });
  expect(await objections(page)).toEqual([]);
});
