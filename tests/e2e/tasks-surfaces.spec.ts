/** A surface of IOzone is measured, found, and compared with another. */

import { expect, test } from "@playwright/test";
import { walk } from "./clicks";
import { cancelShown, signIn } from "./surroundings";

test("submit a complete surface of IOzone", async ({ page, request }) => {
  await walk(page, 4, async ({ press, type }) => {
    const name = `surface-${Date.now()}`;
    const cluster = page.getByRole("group", { name: "e2e", exact: true });
    await press(cluster.getByRole("link", { name: "New campaign here" }));
    await press(page.getByRole("button", { name: /^Full IOzone surface/ }));
    await type(page.getByLabel("Campaign name"), name);
    await press(page.getByRole("checkbox", { name: "scratch" }));
    // This disk may not have room for twice the node's memory.
    await type(page.getByRole("combobox", { name: "File size", exact: true }), "64 MiB");
    await press(page.getByRole("button", { name: "Submit campaign" }));
    await expect(page.getByRole("heading", { name })).toBeVisible();
    await cancelShown(page, request);
  });
});

test("how does throughput depend on file size and record size?", async ({ page }) => {
  // Two to the campaign, two from there to its surface.
  await walk(page, 2 + 2, async ({ press }) => {
    await press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Campaigns" }));
    await press(page.getByRole("link", { name: "surface-after" }).first());
    await press(page.getByRole("link", { name: "Show surface" }).first());
    await expect(page.locator("figure .heatmaplayer .hm").first()).toBeVisible();
  });
});

test("the difference of two surfaces claims nothing for one run each", async ({ page }) => {
  await signIn(page);
  await page.goto("/surfaces");
  await page.getByRole("combobox", { name: "Surface A" }).click();
  await page.getByRole("option", { name: /^surface-after/ }).click();
  await page.getByRole("combobox", { name: "Surface B" }).click();
  await page.getByRole("option", { name: /^surface-before/ }).click();
  const difference = page.getByRole("figure", { name: /^Difference of Throughput/ });
  await expect(difference.locator(".heatmaplayer .hm")).toBeVisible();
  await page.getByText("B / A in %").click();
  await expect(difference.getByText("B / A", { exact: true })).toBeVisible();
  const fields = page.getByRole("table", { name: "Values of the surface" });
  await expect(fields.getByRole("row")).toHaveCount(13);
  await expect(fields.getByText("128 KiB").first()).toBeAttached();
  await expect(fields.getByText(/^ratio \d+(\.\d+)?$/)).toHaveCount(12);
  await expect(fields.getByText(/\d %/)).toHaveCount(0);
});
