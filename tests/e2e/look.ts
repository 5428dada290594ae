/**
 * Looks at a page in light and dark, wide and narrow: nothing that axe objects to, nothing wider than the screen, nothing
 * asked of anybody but its own server, nothing that its security policy refuses.
 */

import AxeBuilder from "@axe-core/playwright";
import { type Browser, expect, type Locator, type Page, test } from "@playwright/test";
import { expectNoStrays, watchStrays } from "./strays";
import { signIn } from "./surroundings";

/** Where pictures of all pages are wanted, for a person to look at; nothing is asserted of them. */
const PICTURES = process.env.IOTIDE_PICTURES;
const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 900 };
const SCHEMES = ["light", "dark"] as const;
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
type Scheme = (typeof SCHEMES)[number];

export interface Place {
  readonly name: string;
  readonly path: string;
  /** Seen once the page shows what it is for. */
  readonly sign: (page: Page) => Promise<void>;
  /** What is done before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
}

export function shown(what: (page: Page) => Locator) {
  return async (page: Page) => {
    await expect(what(page)).toBeVisible();
  };
}

export function heading(name: string | RegExp) {
  return shown((page) => page.getByRole("heading", { name }).first());
}

export async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce" });
  await watchStrays(context);
  return context.newPage();
}

export async function openLoggedIn(browser: Browser): Promise<Page> {
  const page = await openPage(browser);
  await signIn(page);
  return page;
}

/** Loaded once, then turned dark and narrow. Axe looks where all is shown: what it sees does not depend on the width. */
export async function look(page: Page, place: Place): Promise<void> {
  await test.step(place.name, async () => {
    await page.setViewportSize(WIDE);
    await page.goto(place.path);
    await place.sign(page);
    await place.act?.(page);
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme });
      await fits(page, place, scheme);
      expect.soft(await objections(page, scheme), `${place.name} in ${scheme}`).toEqual([]);
    }
    await page.setViewportSize(NARROW);
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme });
      await fits(page, place, scheme);
    }
    expectNoStrays(page.context(), place.name);
  });
}

/** All that axe objects to in light; in dark what it says of colours, since nothing else depends on the scheme. */
export async function objections(page: Page, scheme: Scheme = "light"): Promise<string[]> {
  // What passes is not told: of a long table that is megabytes. No frame of another origin needs the slower way.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode();
  if (scheme === "dark") axe.withRules(OF_COLOURS);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" | ")}`);
}

async function fits(page: Page, { name }: Place, scheme: Scheme): Promise<void> {
  const picture = `${name}-${page.viewportSize()?.width}-${scheme}`;
  await page.waitForFunction(isSettled, scheme, { polling: "raf", timeout: 15_000 });
  if (PICTURES) {
    // What lies over a page is as tall as the screen.
    const fullPage = !(await page.getByRole("dialog").isVisible());
    await page.screenshot({ path: `${PICTURES}/${picture}.png`, fullPage });
  }
  const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect.soft(width, `${picture} is wider than the screen`).toBeLessThanOrEqual(0);
}

/** In the page: it wears the scheme, no colour is on its way, nothing is being loaded, every chart fills its place. */
function isSettled(scheme: string): boolean {
  if (document.documentElement.dataset.mantineColorScheme !== scheme) return false;
  if (document.getAnimations().some((one) => one instanceof CSSTransition)) return false;
  // What lies behind another tab loads when that is opened.
  const loading = [...document.querySelectorAll("[aria-busy=true], [aria-label='Loading the chart']")];
  if (loading.some((element) => element.checkVisibility())) return false;
  return [...document.querySelectorAll("figure")].every((figure) => {
    const drawn = figure.querySelector(".main-svg");
    return drawn !== null && Math.abs(drawn.clientWidth - figure.clientWidth) < 2;
  });
}
