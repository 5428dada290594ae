/**
 * Hostile texts on every page, and a hostile page of another origin: no script runs, no request leaves, nothing
 * changes.
 */

import { expect, type Page, test } from "@playwright/test";
import { expectNoForeignRequests, watchForeignRequests } from "./foreignRequests";
import { given, signIn } from "./surroundings";

/** Property that a script would set on the window; pages that show the raw text contain it. */
const SIGN = given("IOTIDE_SIGN");
const PAGES = JSON.parse(given("IOTIDE_PAGES")) as string[];
const OTHER = given("IOTIDE_OTHER_ORIGIN");
/** Minimum number of pages that show the texts: otherwise the texts are missing. */
const FEWEST_SHOWN = 8;

interface Found {
  readonly ran: boolean;
  readonly elements: number;
  readonly isShown: boolean;
}

/** In the page: whether a script ran, and which elements the texts became. */
function lookFor(sign: string): Found {
  const made = document.querySelectorAll("img[src=x], [onerror], [onload]").length;
  // Charts have their links in an attribute of another name space.
  const leads = [...document.querySelectorAll("a")].filter((link) =>
    [...link.attributes].some(({ value }) => /^javascript:|^https:\/\/elsewhere/.test(value)),
  );
  return {
    ran: Reflect.has(window, sign),
    elements: made + leads.length,
    isShown: (document.body.textContent ?? "").includes(sign),
  };
}

function isQuiet(): boolean {
  const loading = [...document.querySelectorAll("[aria-busy=true], [aria-label='Loading chart']")];
  return document.querySelector("main") !== null && !loading.some((element) => element.checkVisibility());
}

test("no text on any page is anything but text", async ({ browser }) => {
  const context = await browser.newContext();
  await watchForeignRequests(context);
  const page = await context.newPage();
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await signIn(page);
  const shown: string[] = [];
  for (const path of PAGES) {
    await page.goto(path);
    await page.waitForFunction(isQuiet, undefined, { timeout: 60_000 });
    await page.waitForTimeout(200);
    const found = await page.evaluate(lookFor, SIGN);
    expect
      .soft({ path, ran: found.ran, elements: found.elements })
      .toEqual({ path, ran: false, elements: 0 });
    if (found.isShown) shown.push(path);
  }
  expect(dialogs).toEqual([]);
  expectNoForeignRequests(context, "hostile texts");
  expect(shown.length, `shown on ${shown}`).toBeGreaterThanOrEqual(FEWEST_SHOWN);
  await context.close();
});

async function clustersOf(page: Page): Promise<string> {
  return (await page.request.get("/api/v1/clusters")).text();
}

test("another origin changes nothing, reads nothing and frames nothing", async ({ browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page);
  const before = await clustersOf(page);
  expect(before).toContain("alpha");
  await page.goto(OTHER);
  await page.waitForFunction(() => Reflect.has(window, "outcomes"), undefined, { timeout: 60_000 });
  const outcomes = (await page.evaluate(() => Reflect.get(window, "outcomes"))) as Record<string, string>;
  expect(outcomes).toEqual({
    read: "TypeError",
    json: "TypeError",
    header: "TypeError",
    plain: "opaque",
    form: "opaque",
    stream: "error",
  });
  for (const frame of page.frames().filter((frame) => frame !== page.mainFrame()))
    expect(await frame.content()).not.toContain("iotide");
  expect(await clustersOf(page), "neither a form nor a fetch changed anything").toBe(before);
  await context.close();
});

test("a link to the login leads to no other origin", async ({ browser }) => {
  const page = await browser.newPage();
  const next = encodeURIComponent("/.//elsewhere.invalid/");
  await page.goto(`/login?next=${next}#token=${given("IOTIDE_LINK_SECRET")}`);
  await page.waitForURL(({ pathname }) => pathname !== "/login");
  expect(new URL(page.url()).origin).toBe(new URL(given("IOTIDE_URL")).origin);
  await page.context().close();
});
