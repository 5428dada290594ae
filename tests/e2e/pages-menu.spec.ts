/** Menu that opens with little room below its button. */

import { expect, test } from "@playwright/test";
import { items, signIn } from "./surroundings";

const LEAST_HEIGHT = 320;

for (const size of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])
  test(`the menu of workloads is readable from a button at the lower edge of ${size.width}x${size.height}`, async ({
    page,
    request,
  }) => {
    await page.setViewportSize(size);
    await signIn(page);
    const clusters = await items(request, "clusters");
    const own = clusters.find(({ name }) => name === "e2e") ?? clusters[0];
    await page.goto(`/campaigns/new?cluster=${own?.id}`);
    const button = page.getByRole("button", { name: "Add workload" });
    await expect(button).toBeEnabled();
    await button.evaluate((element) => {
      document.body.style.paddingBottom = `${innerHeight}px`;
      scrollBy({ top: element.getBoundingClientRect().bottom - innerHeight + 90, behavior: "instant" });
    });
    await button.click();
    const menu = page.getByRole("menu");
    await expect(menu.getByRole("menuitem").nth(9)).toBeAttached();
    await expect(menu).toBeInViewport({ ratio: 1 });
    const shown = await menu.boundingBox();
    expect(shown?.height).toBeGreaterThanOrEqual(LEAST_HEIGHT);
    const places = await page.getByRole("navigation", { name: "Main" }).boundingBox();
    // On a narrow screen the navigation is above the page.
    if (size.width > 1000) expect(shown?.x).toBeGreaterThanOrEqual((places?.x ?? 0) + (places?.width ?? 0));
  });
