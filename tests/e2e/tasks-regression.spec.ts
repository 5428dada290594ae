/** A regression's whole life as its administrator sees it: suspect, confirmed, acknowledged, linked, expected, new baseline. */

import { readFile, writeFile } from "node:fs/promises";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { walk } from "./clicks";
import { given, type Item, items, post, signIn } from "./surroundings";

const CLUSTER = "levelled";
// With two slow and the three confirmation runs one fewer than a change needs, so that it stays a suspicion until the
// next firing, whichever metric was analysed first.
const FAST_FIRINGS = 8;
const MOST_SLOW_FIRINGS = 14;
const CAUSE = "kernel 6.1.0-30 -> 6.1.0-35";

interface Suspicion extends Item {
  readonly state: string;
  readonly confirmation_id: number | null;
  readonly series: { readonly metric: string };
}

/** The schedule has fired this often, and all of it has ended. */
async function measure(request: APIRequestContext, level: number, count: number): Promise<void> {
  await writeFile(given("IOTIDE_LEVEL"), String(level));
  const fired: number[] = [];
  for (let firing = 0; firing < count; firing += 1) {
    const path = `schedules/${given("IOTIDE_SCHEDULE")}/run`;
    fired.push((await post<{ campaign_id: number }>(request, path)).campaign_id);
  }
  const left = async () => {
    const finished = (await items(request, "campaigns?state=finished")).map(({ id }) => id);
    return fired.filter((id) => !finished.includes(id));
  };
  await expect.poll(left, { timeout: 90_000 }).toEqual([]);
}

async function clusterId(request: APIRequestContext): Promise<number | undefined> {
  return (await items(request, "clusters")).find(({ name }) => name === CLUSTER)?.id;
}

async function alertOf(request: APIRequestContext, state: string): Promise<Suspicion | undefined> {
  const found = await items<Suspicion>(
    request,
    `alerts?cluster_id=${await clusterId(request)}&state=${state}`,
  );
  return found.find(({ series }) => series.metric === "rate");
}

/** Rate and wait have changed in one incident; one of them may need a run more than the other. */
async function isWhole(request: APIRequestContext): Promise<boolean> {
  const path = `incidents?cluster_id=${await clusterId(request)}`;
  const found = await items<Item & { readonly series_count: number }>(request, path);
  const isConfirmed = (await alertOf(request, "untriaged")) !== undefined;
  return isConfirmed && found.some(({ series_count: count }) => count > 1);
}

async function untilSuspected(request: APIRequestContext): Promise<number> {
  const confirmation = async () => (await alertOf(request, "suspect"))?.confirmation_id ?? 0;
  await expect.poll(confirmation, { timeout: 60_000 }).toBeGreaterThan(0);
  return (await alertOf(request, "suspect"))?.id ?? 0;
}

/** One slow run after the other, until enough of them agree. */
async function untilConfirmed(request: APIRequestContext): Promise<void> {
  for (let firing = 0; firing < MOST_SLOW_FIRINGS; firing += 1) {
    await measure(request, 800, 1);
    const isKnown = expect
      .poll(() => isWhole(request), { timeout: 4000 })
      .toBe(true)
      .then(
        () => true,
        () => false,
      );
    if (await isKnown) return;
  }
  throw new Error("the suspicion was never confirmed");
}

async function showsState(page: Page, state: string): Promise<void> {
  const about = page.getByRole("region", { name: /^command: / });
  await expect(about.getByText(state, { exact: true })).toBeVisible();
}

/** Explain the acknowledged change by its event, and accept the level after it. */
async function decide(page: Page): Promise<void> {
  const expected = page.getByRole("button", { name: "Expected", exact: true });
  await expect(expected).toBeDisabled();
  await page.getByRole("combobox", { name: "Event that explains the change" }).click();
  await page.getByRole("option", { name: new RegExp(CAUSE) }).click();
  await expected.click();
  await showsState(page, "expected");
  await expect(page.getByText(new RegExp(`${CAUSE} \\(source:`))).toBeVisible();

  await page.getByRole("button", { name: "Accept as new baseline" }).click();
  await expect(page.getByText(/^accepted /)).toBeVisible();
  const history = page.getByRole("table", { name: "History" });
  for (const action of ["Acknowledge", "Expected", "Accept as new baseline"])
    await expect(history.getByText(action, { exact: true })).toBeVisible();
  await expect(history.getByText("looking at it")).toBeVisible();
}

test.beforeAll(async ({ request }) => {
  await post(request, "alert-rules", { name: "slower", cluster: CLUSTER, metric: "rate", channel_ids: [] });
  await measure(request, 1000, FAST_FIRINGS);
  await post(request, "trend-events", { cluster: CLUSTER, text: CAUSE });
  await measure(request, 800, 2);
});

test("compare a campaign with the previous one and export the numbers", async ({ page }) => {
  await walk(page, 3, async ({ press }) => {
    await press(page.getByRole("navigation").getByRole("link", { name: "Compare" }));
    await press(page.getByRole("button", { name: /^Compare campaign \d+ with the previous one$/ }).first());
    await expect(page.getByRole("table", { name: "Primary metrics" })).toContainText("n 1 and 1");
    const saved = page.waitForEvent("download");
    await press(page.getByRole("button", { name: "CSV", exact: true }));
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(/^comparison-of-campaigns-\d+-\d+\.csv$/);
    const [head = "", ...rows] = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
    expect(head).toMatch(/,campaign_id,.*,metric,.*,value,low,high,n,unit,/);
    expect(rows.filter((row) => row.includes(",rate,"))).toHaveLength(2);
  });
  await page.getByRole("button", { name: "Export Primary metrics" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Parquet" }).click();
  const magic = (await readFile(await (await saved).path())).subarray(-4).toString();
  expect(magic).toBe("PAR1");
});

test("a regression from the suspicion to the new baseline", async ({ page, request }) => {
  const id = await untilSuspected(request);
  await signIn(page);
  await page.goto(`/alerts/${id}`);
  await showsState(page, "suspect");
  await expect(page.getByText(/Confirmation runs/).first()).toBeVisible();
  await page.getByRole("link", { name: /^campaign \d+$/ }).click();
  await expect(page.getByRole("heading", { name: /^confirm-/ })).toBeVisible();
  await page.goBack();
  // The open page updates automatically when it is confirmed.
  await untilConfirmed(request);
  await showsState(page, "untriaged");
  await expect(page.getByText(/% lower, worse \(\d+ points after, \d+ before\)/).first()).toBeVisible();
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  const needed = page.getByRole("list", { name: "Needs attention" });
  const alert = needed
    .getByRole("listitem")
    .filter({ hasText: CLUSTER })
    .filter({ hasText: "open incident" });
  await alert.getByRole("link", { name: "acknowledge or set the cause" }).click();
  await page
    .getByRole("table", { name: "Incidents" })
    .getByRole("link", { name: /^disk: command/ })
    .click();
  await page.locator(`a[href="/alerts/${id}"]`).click();

  await page.getByLabel("Comment").fill("looking at it");
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await showsState(page, "acknowledged");

  await decide(page);

  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await alert.getByRole("link", { name: "acknowledge or set the cause" }).click();
  const open = page.getByRole("table", { name: "Incidents" }).getByRole("link", { name: /^disk: command/ });
  await open.click();
  // The other metric of the command changed with it: one click decides about both.
  await page.getByRole("button", { name: /^Expected: incident/ }).click();
  await expect(page.getByText("expected", { exact: true }).first()).toBeVisible();
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await expect(page.getByRole("heading", { name: "Status", exact: true })).toBeVisible();
  await expect(alert).toHaveCount(0);
});
