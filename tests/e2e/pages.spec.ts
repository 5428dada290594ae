/** Every page in light and dark, wide and narrow: nothing that axe objects to, nothing wider than the screen. */

import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { given } from "./surroundings";

const PICTURES = `${__dirname}/../../frontend/test-results/pages`;
const WIDTHS = [1440, 390] as const;
const SCHEMES = ["light", "dark"] as const;

interface Place {
  readonly name: string;
  readonly path: string;
  /** Seen once the page shows what it is for. */
  readonly sign: (page: Page) => Promise<void>;
  /** What is done before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
}

function heading(name: string | RegExp) {
  return async (page: Page) => {
    await expect(page.getByRole("heading", { name }).first()).toBeVisible();
  };
}

/** Every page, with the ids of things that exist. */
async function places(request: APIRequestContext): Promise<Place[]> {
  const [campaign] = await items(request, "campaigns?state=finished");
  const [node] = await items(request, "nodes");
  const [finished] = await items(request, "runs?state=finished&workload=fio");
  const [failed] = await items(request, "runs?state=failed");
  const [cluster] = await items(request, "clusters");
  const chart = async (page: Page) => {
    await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
  };
  return [
    { name: "overview", path: "/", sign: heading("Cluster e2e") },
    { name: "node", path: `/?node=${node}`, sign: heading("node-1") },
    { name: "campaigns", path: "/campaigns", sign: heading("Campaigns") },
    { name: "builder", path: `/campaigns/new?cluster=${cluster}&from=${campaign}`, sign: heading("Preview") },
    { name: "campaign-results", path: `/campaigns/${campaign}`, sign: heading("Results") },
    { name: "campaign-runs", path: `/campaigns/${campaign}?tab=runs`, sign: heading("Runs") },
    { name: "campaign-plan", path: `/campaigns/${campaign}?tab=plan`, sign: heading("Plan") },
    { name: "run", path: `/runs/${finished}`, sign: chart },
    { name: "run-failed", path: `/runs/${failed}`, sign: heading(`Run ${failed}`) },
    { name: "trend", path: `/clusters/${cluster}/trend?workload=fio`, sign: chart },
    {
      name: "trend-table",
      path: `/clusters/${cluster}/trend?workload=fio&view=table`,
      sign: heading(/Runs of/),
    },
    { name: "trends", path: "/trends", sign: heading("Trends") },
    { name: "settings", path: "/settings", sign: heading(/Settings|Access/) },
    { name: "no-such-page", path: "/nowhere", sign: heading(/./) },
    {
      name: "command-palette",
      path: "/campaigns",
      sign: heading("Campaigns"),
      act: async (page) => {
        await page.keyboard.press("Control+K");
        await expect(page.getByRole("dialog")).toBeVisible();
      },
    },
  ];
}

async function items(request: APIRequestContext, path: string): Promise<number[]> {
  const headers = { Authorization: `Bearer ${given("IOTIDE_TOKEN")}` };
  const answer = await request.get(`/api/v1/${path}`, { headers });
  const { items } = (await answer.json()) as { items: { id: number }[] };
  return items.map(({ id }) => id);
}

for (const scheme of SCHEMES) {
  for (const width of WIDTHS) {
    test(`every page at ${width} px in ${scheme}`, async ({ browser, request }) => {
      const context = await browser.newContext({
        colorScheme: scheme,
        viewport: { width, height: 900 },
        reducedMotion: "reduce",
      });
      await context.addCookies([
        { name: "iotide_session", value: given("IOTIDE_SESSION"), url: given("IOTIDE_URL") },
      ]);
      const page = await context.newPage();
      for (const place of await places(request)) await look(page, place, `${place.name}-${width}-${scheme}`);
      await context.close();
    });

    test(`the login at ${width} px in ${scheme}`, async ({ browser }) => {
      const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      const place = { name: "login", path: "/", sign: heading("Log in to iotide") };
      await look(page, place, `login-${width}-${scheme}`);
      await context.close();
    });
  }
}

async function look(page: Page, place: Place, picture: string): Promise<void> {
  await test.step(place.name, async () => {
    await page.goto(place.path);
    await place.sign(page);
    await place.act?.(page);
    await page.screenshot({ path: `${PICTURES}/${picture}.png`, fullPage: !place.act });
    const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect.soft(width, `${picture} is wider than the screen`).toBeLessThanOrEqual(0);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" | ")}`,
    );
    expect.soft(found, picture).toEqual([]);
  });
}
