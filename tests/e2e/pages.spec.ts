/** Every page in light and dark, wide and narrow: nothing that axe objects to, nothing wider than the screen. */

import AxeBuilder from "@axe-core/playwright";
import {
  type APIRequestContext,
  type Browser,
  expect,
  type Locator,
  type Page,
  test,
} from "@playwright/test";
import { given } from "./surroundings";

/** Where pictures of all pages are wanted, for a person to look at; nothing is asserted of them. */
const PICTURES = process.env.IOTIDE_PICTURES;
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 900 };
const SCHEMES = ["light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

interface Place {
  readonly name: string;
  readonly path: string;
  /** Seen once the page shows what it is for. */
  readonly sign: (page: Page) => Promise<void>;
  /** What is done before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
}

function shown(what: (page: Page) => Locator) {
  return async (page: Page) => {
    await expect(what(page)).toBeVisible();
  };
}

function heading(name: string | RegExp) {
  return shown((page) => page.getByRole("heading", { name }).first());
}

const chart = shown((page) => page.locator("figure .scatterlayer .trace").first());
const refusal = shown((page) => page.getByRole("alert").first());

/** A cluster that nobody has joined. */
const EMPTY_CLUSTER = `empty-${Date.now()}`;

test.beforeAll(async ({ request }) => {
  await post(request, "clusters", { name: EMPTY_CLUSTER });
});

const SETTINGS: Place = {
  name: "settings",
  path: "/settings",
  sign: heading("Settings"),
  act: async (page) => page.getByRole("button", { name: "Add a rule" }).click(),
};

/** Of a campaign with itself, so that all of it is alike. */
function comparison(id: number | undefined): Place {
  const numbers = shown((page) => page.getByRole("table", { name: /^Numbers of/ }).first());
  return { name: "compare", path: `/compare?a=${id}&b=${id}`, sign: numbers };
}

/** Every page, with the ids of things that exist. */
async function places(request: APIRequestContext): Promise<Place[]> {
  const [campaign] = await items(request, "campaigns?state=finished");
  const [node] = await items(request, "nodes");
  const [finished] = await items(request, "runs?state=finished&workload=fio");
  const [failed] = await items(request, "runs?state=failed");
  const [paused] = await items(request, "campaigns?state=paused");
  const [target] = await items(request, "targets");
  const clusters = await items(request, "clusters");
  const cluster = clusters.find(({ name }) => name === "e2e")?.id;
  const empty = clusters.find(({ name }) => name === EMPTY_CLUSTER)?.id;
  return [
    { name: "overview", path: "/", sign: heading(`Cluster ${EMPTY_CLUSTER}`) },
    { name: "node", path: `/?node=${node?.id}`, sign: heading("node-1") },
    {
      name: "overview-mounts",
      path: "/",
      sign: heading("Cluster e2e"),
      act: async (page) => {
        const own = page.getByRole("region", { name: "Cluster e2e" });
        await own.getByRole("button", { name: "Add targets" }).click();
        const mounts = own.getByRole("table", { name: "Discovered mounts" });
        await mounts.getByRole("checkbox").first().check();
      },
    },
    { name: "target", path: `/targets/${target?.id}`, sign: heading("What it is made of") },
    { name: "campaigns", path: "/campaigns", sign: heading("Campaigns") },
    {
      name: "builder",
      path: `/campaigns/new?cluster=${cluster}&from=${campaign?.id}`,
      sign: heading("Preview"),
    },
    {
      name: "builder-stages",
      path: `/campaigns/new?cluster=${cluster}&from=${paused?.id}`,
      sign: shown((page) => page.getByLabel("Stage 2: variant")),
    },
    { name: "builder-empty", path: `/campaigns/new?cluster=${empty}`, sign: heading("Preview") },
    { name: "campaign-results", path: `/campaigns/${campaign?.id}`, sign: heading("Results") },
    { name: "campaign-runs", path: `/campaigns/${campaign?.id}?tab=runs`, sign: heading("Runs") },
    { name: "campaign-plan", path: `/campaigns/${campaign?.id}?tab=plan`, sign: heading("Plan") },
    {
      name: "campaign-paused",
      path: `/campaigns/${paused?.id}`,
      sign: shown((page) => page.getByRole("table", { name: "Mounts of the targets" })),
    },
    {
      name: "run",
      path: `/runs/${finished?.id}?curves=${encodeURIComponent('["load","cpu","disk"]')}`,
      sign: chart,
    },
    { name: "run-failed", path: `/runs/${failed?.id}`, sign: heading(`Run ${failed?.id}`) },
    { name: "run-missing", path: "/runs/999999999", sign: refusal },
    ...ofCluster(cluster),
    { name: "trend-empty", path: `/clusters/${empty}/trend`, sign: heading(`Trend of ${EMPTY_CLUSTER}`) },
    { name: "trends", path: "/trends", sign: heading("Trends") },
    SETTINGS,
    comparison(campaign?.id),
    { name: "no-such-page", path: "/runs/abc", sign: heading("There is nothing here") },
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

/** A cluster's trend and queue, and where it is drained. */
function ofCluster(cluster: number | undefined): Place[] {
  return [
    { name: "trend", path: `/clusters/${cluster}/trend?workload=fio`, sign: chart },
    {
      name: "trend-table",
      path: `/clusters/${cluster}/trend?workload=dd&view=table`,
      sign: shown((page) => page.getByLabel("Variant")),
    },
    { name: "queue", path: `/queues/${cluster}`, sign: heading("Waiting runs") },
    { name: "changes", path: "/changes?unconfirmed=true", sign: heading("Changes") },
    { name: "alerts", path: "/alerts?state=all", sign: heading("Alerts") },
    { name: "peers", path: `/peers?cluster=${cluster}`, sign: heading("Peers of e2e") },
    {
      name: "drain",
      path: "/",
      sign: heading("Cluster e2e"),
      act: async (page) => {
        await page.getByRole("button", { name: "Drain cluster e2e" }).click();
        await expect(page.getByLabel("Until")).toBeVisible();
      },
    },
  ];
}

interface Item {
  readonly id: number;
  readonly name?: string;
}

function headers() {
  return { Authorization: `Bearer ${given("IOTIDE_TOKEN")}` };
}

async function items(request: APIRequestContext, path: string): Promise<Item[]> {
  const answer = await request.get(`/api/v1/${path}`, { headers: headers() });
  return ((await answer.json()) as { items: Item[] }).items;
}

async function post(request: APIRequestContext, path: string, data: object = {}): Promise<Item> {
  const answer = await request.post(`/api/v1/${path}`, { headers: headers(), data });
  expect(answer.ok(), await answer.text()).toBe(true);
  return (await answer.json()) as Item;
}

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce" });
  return context.newPage();
}

async function openLoggedIn(browser: Browser): Promise<Page> {
  const page = await openPage(browser);
  const session = { name: "iotide_session", value: given("IOTIDE_SESSION"), url: given("IOTIDE_URL") };
  await page.context().addCookies([session]);
  return page;
}

test("every page", async ({ browser, request }) => {
  const page = await openLoggedIn(browser);
  for (const place of await places(request)) await look(page, place);
  await page.context().close();
});

test("the login", async ({ browser }) => {
  const page = await openPage(browser);
  await look(page, { name: "login", path: "/", sign: heading("Log in to iotide") });
  await page.context().close();
});

test("what shows a running campaign", async ({ browser, request }) => {
  const fio = {
    rw: "randwrite",
    block_size_bytes: "4 KiB",
    file_size_bytes: "4 MiB",
    runtime_seconds: 120,
  };
  const plan = { cluster: "e2e", nodes: ["node-1"], targets: ["scratch"], repeats: 2 };
  const workloads = [{ workload: "fio", options: fio }];
  const { id } = await post(request, "campaigns", { ...plan, name: "running", workloads });
  const page = await openLoggedIn(browser);
  const bar = async () => {
    const runs = page.getByRole("progressbar", { name: /^Progress of run/ });
    await expect(runs.first()).toHaveAttribute("aria-valuenow", /[1-9]/);
  };
  await look(page, { name: "campaign-running", path: `/campaigns/${id}`, sign: bar });
  await look(page, { name: "overview-running", path: "/", sign: bar });
  await post(request, `campaigns/${id}/cancel`);
  await page.context().close();
});

test("schedules and blackouts", async ({ browser, request }) => {
  const cluster = (await items(request, "clusters")).find(({ name }) => name === "e2e")?.id;
  const day = { starts_at: "2999-01-01T08:00:00Z", ends_at: "2999-01-01T18:00:00Z" };
  await post(request, `clusters/${cluster}/blackouts`, { ...day, reason: "new firmware on the switches" });
  const window = { from: "22:00", until: "05:00", time_zone: "Europe/Zurich" };
  const workloads = [{ workload: "dd", options: { file_size_bytes: "1 MiB" } }];
  const plan = {
    name: "nightly",
    cluster: "e2e",
    nodes: ["node-1"],
    targets: ["scratch"],
    window,
    workloads,
  };
  const calendar = { name: `nightly-${Date.now()}`, cron: "30 2 * * *", time_zone: "Europe/Zurich" };
  const { id } = await post(request, "schedules", { ...calendar, plan });
  await post(request, `schedules/${id}/run`);
  const page = await openLoggedIn(browser);
  const table = (name: string) => shown((page) => page.getByRole("table", { name }).first());
  const next = shown((page) => page.getByRole("list", { name: "Next firings" }));
  await look(page, { name: "schedules", path: "/schedules", sign: table("Schedules") });
  await look(page, { name: "builder-schedule", path: `/campaigns/new?schedule=${id}`, sign: next });
  await look(page, { name: "overview-blackouts", path: "/", sign: table("Blackouts") });
  await page.context().close();
});

/** Loaded once, then turned dark and narrow. Axe looks where all is shown: what it sees does not depend on the width. */
async function look(page: Page, place: Place): Promise<void> {
  await test.step(place.name, async () => {
    await page.setViewportSize(WIDE);
    await page.goto(place.path);
    await place.sign(page);
    await place.act?.(page);
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme });
      await fits(page, place, scheme);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" | ")}`,
      );
      expect.soft(found, `${place.name} in ${scheme}`).toEqual([]);
    }
    await page.setViewportSize(NARROW);
    for (const scheme of SCHEMES) {
      await page.emulateMedia({ colorScheme: scheme });
      await fits(page, place, scheme);
    }
  });
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
