/** Counts a reader's clicks from the overview to the goal; typing does not count. */

import { expect, type Page, test } from "@playwright/test";
import { signIn } from "./surroundings";

export const MOST_CLICKS = 6;

/**
 * Opens the overview, runs the walk, and expects at most MOST_CLICKS. The walk may click, type and look, but open no
 * address: a reader who knows the address needs no clicks.
 */
export async function inFewClicks(page: Page, walk: () => Promise<void>): Promise<void> {
  let clicks = 0;
  await page.exposeBinding("iotideClicked", (_source, count: number) => {
    clicks += count;
  });
  await page.addInitScript(listen);
  await signIn(page);
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  let loads = 0;
  page.on("load", () => {
    loads += 1;
  });
  await walk();
  // The page reports its last click before it answers this.
  await page.evaluate(() => undefined);
  test.info().annotations.push({ type: "clicks", description: String(clicks) });
  expect(loads, "addresses opened on the way").toBe(0);
  expect(clicks, "clicks").toBeLessThanOrEqual(MOST_CLICKS);
}

/** In the page: a press is a click; a choice in a native list is two, which Playwright makes without a press. */
function listen(): void {
  const report = (count: number) => Reflect.get(window, "iotideClicked")(count);
  document.addEventListener("pointerdown", () => report(1), { capture: true });
  document.addEventListener(
    "change",
    ({ target, isTrusted }) => target instanceof HTMLSelectElement && !isTrusted && report(2),
    { capture: true },
  );
}
