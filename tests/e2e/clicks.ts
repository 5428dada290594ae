/** Counts the clicks from the overview to what was wanted, as a reader makes them; typing does not count. */

import { expect, type Page, test } from "@playwright/test";
import { signIn } from "./surroundings";

export const MOST_CLICKS = 6;

/**
 * Opens the overview, walks, and expects no more than MOST_CLICKS. The walk may click, type and look, and open no address:
 * a reader who knows the address needs no clicks.
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
  // What was clicked last is told before this is answered.
  await page.evaluate(() => undefined);
  test.info().annotations.push({ type: "clicks", description: String(clicks) });
  expect(loads, "addresses opened on the way").toBe(0);
  expect(clicks, "clicks").toBeLessThanOrEqual(MOST_CLICKS);
}

/** In the page: a press is a click; a choice in a list of the browser's own is two, which Playwright makes without a press. */
function listen(): void {
  const tell = (count: number) => Reflect.get(window, "iotideClicked")(count);
  document.addEventListener("pointerdown", () => tell(1), { capture: true });
  document.addEventListener(
    "change",
    ({ target, isTrusted }) => target instanceof HTMLSelectElement && !isTrusted && tell(2),
    { capture: true },
  );
}
