/** Every page in light and dark, wide and narrow; pages with their own spec are in `pages-*.spec.ts`. */

import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { heading, look, openLoggedIn, openPage, type Place, shown } from "./look";
import { items, post } from "./surroundings";

const chart = shown((page) => page.locator("figure .scatterlayer .trace").first());
const refusal = shown((page) => page.getByRole("alert").first());

/** A cluster without nodes. */
const EMPTY_CLUSTER = `empty-${Date.now()}`;

test.beforeAll(async ({ request }) => {
  await post(request, "clusters", { name: EMPTY_CLUSTER });
});

const SETTINGS: Place = {
  name: "settings",
  path: "/settings",
  sign: heading("Settings"),
  act: async (page) => page.getByRole("button", { name: "Add alert rule" }).click(),
};

/** Settings with pages of their own, and the glossary. */
const OF_SETTINGS: Place[] = [
  SETTINGS,
  {
    name: "people",
    path: "/settings/people",
    sign: shown((page) => page.getByRole("table", { name: "People" })),
    act: async (page) => page.getByRole("button", { name: "Add person" }).click(),
  },
  {
    name: "tokens",
    path: "/settings/tokens",
    sign: shown((page) => page.getByRole("form", { name: "New token" })),
  },
  {
    name: "audit",
    path: "/settings/audit?action=cluster_created",
    sign: shown((page) => page.getByRole("table", { name: "Audit" })),
    act: async (page) =>
      page
        .getByRole("button", { name: /^Values before and after/ })
        .first()
        .click(),
  },
  {
    name: "connect",
    path: `/connect?login=sha256-${"0".repeat(64)}&name=iotide+on+login1&at=2026-11-21T10:00:00Z`,
    sign: shown((page) => page.getByRole("button", { name: "Confirm sign-in" })),
  },
  { name: "glossary", path: "/glossary", sign: heading("Glossary") },
];

/** Of a campaign with itself, so that both sides are equal. */
function comparison(id: number | undefined): Place {
  const answer = shown((page) => page.getByRole("table", { name: "Primary metrics" }));
  const act = async (page: Page) => {
    await page.getByRole("button", { name: "All values" }).click();
    await expect(page.getByRole("table", { name: /^Metrics of/ }).first()).toBeVisible();
  };
  return { name: "compare", path: `/compare?a=${id}&b=${id}`, sign: answer, act };
}

/** Campaigns: all, one that has ended and one that waits for an operator. */
function campaignPlaces(id: number | undefined, paused: number | undefined): Place[] {
  const bars = shown((page) => page.locator("figure .barlayer .trace").first());
  return [
    { name: "campaigns", path: "/campaigns", sign: heading("Campaigns") },
    { name: "campaign-results", path: `/campaigns/${id}`, sign: heading("Answer") },
    { name: "campaign-runs", path: `/campaigns/${id}?tab=runs`, sign: heading("Runs") },
    { name: "campaign-plan", path: `/campaigns/${id}?tab=plan`, sign: heading("Plan") },
    { name: "campaign-timeline", path: `/campaigns/${id}?tab=timeline`, sign: bars },
    {
      name: "campaign-timeline-table",
      path: `/campaigns/${id}?tab=timeline`,
      sign: bars,
      act: async (page) => {
        await page.getByLabel("Timeline view").getByText("Table").click();
        await expect(page.getByRole("table", { name: "Leases by time" })).toBeVisible();
      },
    },
    {
      name: "campaign-paused",
      path: `/campaigns/${paused}`,
      sign: shown((page) => page.getByRole("table", { name: "Mounts of the targets" })),
    },
    {
      name: "campaign-repeats",
      path: `/campaigns/${id}?repeats=%5B%5D`,
      sign: shown((page) => page.getByRole("button", { name: /^Add \d+ runs$/ })),
    },
    {
      name: "campaign-report",
      path: `/campaigns/${id}/report`,
      sign: shown((page) => page.getByRole("article").getByRole("img").first()),
    },
    {
      name: "comparison-report",
      path: `/compare/report?campaigns=%5B${id}%5D`,
      sign: shown((page) => page.getByRole("table", { name: "Primary metrics" })),
    },
  ];
}

/** The builder's steps, with stages, and empty. */
function builderPlaces({ cluster, empty, campaign, paused }: Builds): Place[] {
  return [
    {
      name: "builder",
      path: `/campaigns/new?cluster=${cluster}&from=${campaign}`,
      sign: heading("Workloads"),
    },
    {
      name: "builder-review",
      path: `/campaigns/new?cluster=${cluster}&from=${campaign}&step=review`,
      sign: heading("Run matrix"),
    },
    {
      name: "builder-stages",
      path: `/campaigns/new?cluster=${cluster}&from=${paused}`,
      sign: shown((page) => page.getByText("Advanced", { exact: true })),
      act: async (page) => {
        await page.getByText("Advanced", { exact: true }).click();
        await expect(page.getByLabel("Stage 2: variant")).toBeVisible();
      },
    },
    {
      name: "builder-empty",
      path: `/campaigns/new?cluster=${empty}`,
      sign: heading("What do you want to know?"),
    },
  ];
}

function incidentPlaces(incident: number | undefined): Place[] {
  return [
    { name: "incidents", path: "/incidents", sign: heading("Incidents") },
    { name: "incident", path: `/incidents/${incident}`, sign: chart },
    { name: "alert-missing", path: "/alerts/999999999", sign: refusal },
  ];
}

type Builds = Readonly<Record<"cluster" | "empty" | "campaign" | "paused", number | undefined>>;

/** Every page, with the ids of existing objects. */
async function places(request: APIRequestContext): Promise<Place[]> {
  const [campaign] = await items(request, "campaigns?state=finished");
  const [finished] = await items(request, "runs?state=finished&workload=fio");
  const [failed] = await items(request, "runs?state=failed");
  const [paused] = await items(request, "campaigns?state=paused");
  const [incident] = await items(request, "incidents");
  const [after, before] = (await items(request, "surface-sources")) as unknown as { source: string }[];
  const clusters = await items(request, "clusters");
  const cluster = clusters.find(({ name }) => name === "e2e")?.id;
  const studio = clusters.find(({ name }) => name === "demo-studio")?.id;
  const empty = clusters.find(({ name }) => name === EMPTY_CLUSTER)?.id;
  return [
    ...builderPlaces({ cluster, empty, campaign: campaign?.id, paused: paused?.id }),
    ...campaignPlaces(campaign?.id, paused?.id),
    {
      name: "run",
      path: `/runs/${finished?.id}?curves=${encodeURIComponent('["load","cpu","disk"]')}`,
      sign: chart,
    },
    { name: "run-failed", path: `/runs/${failed?.id}`, sign: heading(`Run ${failed?.id}`) },
    ...ofManyRuns({ cluster, empty, run: finished?.id, campaign: campaign?.id }),
    { name: "run-missing", path: "/runs/999999999", sign: refusal },
    ...incidentPlaces(incident?.id),
    ...ofCluster(cluster),
    {
      name: "trend",
      path: `/clusters/${studio}/trend?workload=dd&target=projects`,
      sign: shown((page) => page.getByRole("table", { name: "Changes" })),
    },
    {
      name: "surfaces",
      path: `/surfaces?a=${before?.source}&b=${after?.source}&file=8388608&record=131072`,
      sign: shown((page) => page.locator("figure .heatmaplayer .hm").nth(2)),
    },
    { name: "trend-empty", path: `/clusters/${empty}/trend`, sign: heading(`Trend of ${EMPTY_CLUSTER}`) },
    { name: "trends", path: "/trends?workload=dd", sign: chart },
    ...OF_SETTINGS,
    { name: "no-such-page", path: "/runs/abc", sign: heading("Page not found") },
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

type Ids = Readonly<Record<"cluster" | "empty" | "run" | "campaign", number | undefined>>;

/** The table of all runs, and the sides of a campaign. */
function ofManyRuns({ cluster, empty, run, campaign }: Ids): Place[] {
  const listOf = (id: number | undefined) => encodeURIComponent(`[${id}]`);
  return [
    {
      name: "runs",
      path: `/runs?cluster=${cluster}&pins=${listOf(run)}&baseline=${run}`,
      sign: shown((page) =>
        page.getByRole("table", { name: "Pinned runs" }).getByText("baseline", { exact: true }),
      ),
    },
    {
      name: "runs-empty",
      path: `/runs?cluster=${empty}`,
      sign: shown((page) => page.getByText(/No runs match/)),
    },
    comparison(campaign),
    {
      // Of one target only; tasks-compare checks sides with verdicts.
      name: "compare-nothing",
      path: `/compare?campaigns=${listOf(campaign)}`,
      sign: shown((page) => page.getByText(/^Nothing to compare/)),
    },
  ];
}

/** A cluster's trend and queue, and the page on which it is drained. */
function ofCluster(cluster: number | undefined): Place[] {
  return [
    {
      name: "trend-table",
      path: `/clusters/${cluster}/trend?workload=dd&view=table`,
      sign: shown((page) => page.getByLabel("Variant")),
    },
    { name: "queue", path: `/queues/${cluster}`, sign: heading("Waiting runs") },
    { name: "surfaces-one", path: "/surfaces", sign: heading("Slices") },
    { name: "published", path: "/published", sign: chart },
    { name: "peers", path: `/peers?cluster=${cluster}`, sign: heading("Peers of e2e") },
    {
      name: "drain",
      path: `/clusters/${cluster}`,
      sign: heading("Cluster e2e"),
      act: async (page) => {
        await page.getByRole("button", { name: "Drain cluster e2e" }).click();
        await expect(page.getByLabel("Until")).toBeVisible();
      },
    },
  ];
}

test("every page", async ({ browser, request }) => {
  const page = await openLoggedIn(browser);
  for (const place of await places(request)) await look(page, place);
  await page.context().close();
});

test("addresses of release 0.2 lead to the incidents", async ({ browser }) => {
  const page = await openLoggedIn(browser);
  for (const { path } of [{ path: "/changes" }, { path: "/alerts" }]) {
    await page.goto(path);
    await heading("Incidents")(page);
    await expect(page).toHaveURL(/\/incidents$/);
  }
  await page.context().close();
});

test("the login", async ({ browser }) => {
  const page = await openPage(browser);
  await look(page, { name: "login", path: "/", sign: heading("Sign in to iotide") });
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
  const cluster = (await items(request, "clusters")).find(({ name }) => name === "e2e")?.id;
  await look(page, { name: "cluster-running", path: `/clusters/${cluster}`, sign: bar });
  await look(page, {
    name: "overview-running",
    path: "/",
    sign: shown((page) => page.getByRole("region", { name: "Running campaigns" })),
  });
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
  await look(page, {
    name: "builder-schedule",
    path: `/campaigns/new?schedule=${id}&step=when`,
    sign: next,
  });
  await look(page, {
    name: "cluster-blackouts",
    path: `/clusters/${cluster}`,
    sign: table("Maintenance windows"),
  });
  await page.context().close();
});
