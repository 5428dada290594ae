/** Documentation under the server's policy: no message in the console, readable, and searchable without other servers. */

import { expect, type Page, test } from "@playwright/test";
import { expectNoForeignRequests } from "./foreignRequests";
import { NARROW, objections, openPage } from "./look";

const PATHS = ["/docs", "/docs/trends.html", "/docs/reference/iotide.html", "/docs/reference/api/runs.html"];

/** Errors and warnings of scripts and of the policy, from now on. */
function watchConsole(page: Page): string[] {
  const messages: string[] = [];
  page.on("console", (message) => messages.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => messages.push(`${page.url()}: ${error.message}`));
  return messages;
}

test("a page of the documentation is readable in light and dark, wide and narrow", async ({ browser }) => {
  const page = await openPage(browser);
  const wide = page.viewportSize() ?? NARROW;
  const messages = watchConsole(page);
  for (const path of PATHS) {
    await page.setViewportSize(wide);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      // Its axe rules for dark pages are those about colours.
      expect.soft(await objections(page, "dark"), `${path} in ${scheme}`).toEqual([]);
    }
    for (const size of [wide, NARROW]) {
      await page.setViewportSize(size);
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect.soft(excess, `${path} is wider than ${size.width}`).toBeLessThanOrEqual(0);
    }
  }
  expect(messages).toEqual([]);
  expectNoForeignRequests(page.context(), "documentation");
});

test("the search of the documentation leads to a page with the word", async ({ browser }) => {
  const page = await openPage(browser);
  const messages = watchConsole(page);
  await page.goto("/docs");
  await page.getByLabel("Search").fill("budget");
  await page.getByLabel("Search").press("Enter");
  await page
    .getByRole("link", { name: /^What can iotide do on a node/ })
    .first()
    .click();
  await expect(page).toHaveURL(/\/docs\/isolation\.html/);
  await expect(page.getByText("[budget]").first()).toBeVisible();
  expect(messages).toEqual([]);
  expectNoForeignRequests(page.context(), "search of the documentation");
});
