/**
 * Checks a page in light and dark, wide and narrow: no axe findings, no overflow in width, no requests to other
 * servers, and no violations of its security policy.
 */

import { readFileSync } from "node:fs";
import { type Browser, expect, type Locator, type Page, test } from "@playwright/test";
import { expectNoForeignRequests, watchForeignRequests } from "./foreignRequests";
import { signIn } from "./surroundings";

/** Directory for pictures of all pages for a reviewer; tests assert nothing about them. */
const PICTURES = process.env.IOTIDE_PICTURES;
const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 900 };
const SCHEMES = ["light", "dark"] as const;
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
type Scheme = (typeof SCHEMES)[number];

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: unknown }[];
  }[];
}

export interface Place {
  readonly name: string;
  readonly path: string;
  /** Visible once the page shows its main content. */
  readonly sign: (page: Page) => Promise<void>;
  /** Steps before the check. */
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
  await watchForeignRequests(context);
  return context.newPage();
}

export async function openLoggedIn(browser: Browser): Promise<Page> {
  const page = await openPage(browser);
  await signIn(page);
  return page;
}

/**
 * Loaded once, then turned dark and narrow. Axe runs where all is visible: its findings do not depend on the width.
 */
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
    expectNoForeignRequests(page.context(), place.name);
  });
}

/** All axe findings in light; in dark only those about colours, since nothing else depends on the scheme. */
export async function objections(page: Page, scheme: Scheme = "light"): Promise<string[]> {
  // Once a document: parsing takes a fifth of a check.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  return page.evaluate(findings, scheme === "dark" ? OF_COLOURS : []);
}

/** In the page, which has no frames: findings of these rules, or of all. */
async function findings(rules: readonly string[]): Promise<string[]> {
  const axe: { readonly run: (where: Document, options: object) => Promise<Findings> } = Reflect.get(
    window,
    "axe",
  );
  const only = rules.length > 0 ? { runOnly: { type: "rule", values: rules } } : {};
  const { violations } = await axe.run(document, { ...only, resultTypes: ["violations"] });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" | ")}`);
}

async function fits(page: Page, { name }: Place, scheme: Scheme): Promise<void> {
  const picture = `${name}-${page.viewportSize()?.width}-${scheme}`;
  await page.waitForFunction(isSettled, scheme, { polling: "raf", timeout: 60_000 });
  if (PICTURES) {
    // An overlay is as tall as the screen.
    const fullPage = !(await page.getByRole("dialog").isVisible());
    await page.screenshot({ path: `${PICTURES}/${picture}.png`, fullPage });
  }
  const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect.soft(width, `${picture} is wider than the screen`).toBeLessThanOrEqual(0);
}

/** In the page: it has the scheme, no colour changes, nothing is loading, every chart fills its container. */
function isSettled(scheme: string): boolean {
  if (document.documentElement.dataset.mantineColorScheme !== scheme) return false;
  if (document.getAnimations().some((one) => one instanceof CSSTransition)) return false;
  // The content of another tab loads when that tab is opened.
  const loading = [...document.querySelectorAll("[aria-busy=true], [aria-label='Loading chart']")];
  if (loading.some((element) => element.checkVisibility())) return false;
  return [...document.querySelectorAll("figure")].every((figure) => {
    const drawn = figure.querySelector(".main-svg");
    return drawn !== null && Math.abs(drawn.clientWidth - figure.clientWidth) < 2;
  });
}
