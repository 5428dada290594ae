/** The main job, by hand: sign in by the link, build a campaign, watch it, open a run, find its point on the trend. */

import { expect, type Page, test } from "@playwright/test";
import { given } from "./surroundings";

test("a campaign from the login to its point on the trend", async ({ page }) => {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  const name = `walk-${Date.now()}`;
  await logIn(page);
  await build(page, name);
  await watch(page, name);
  await inspectRun(page);
  await findPoint(page);
  await planPlugIn(page);
  expect(errors).toEqual([]);
});

async function logIn(page: Page): Promise<void> {
  await page.goto(given("IOTIDE_LINK"));
  await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  await expect(page).not.toHaveURL(/token|link/);
  await expect(page.getByRole("link", { name: "e2e", exact: true })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "live" })).toBeVisible();
}

async function build(page: Page, name: string): Promise<void> {
  await planHere(page);
  await page.getByLabel("Campaign name").fill(name);
  await page.getByRole("checkbox", { name: "node-1" }).check();
  await page.getByRole("checkbox", { name: "scratch" }).check();
  await foreseeAuto(page);
  await addWorkload(page, /^fio/);
  await page.getByLabel("File size", { exact: true }).fill("4 MiB");
  await page.getByLabel("Block size", { exact: true }).fill("4 KiB");
  await page.getByLabel("Run time", { exact: true }).fill("10 s");
  await step(page, "2 Review");
  await page.getByRole("textbox", { name: "Repeats", exact: true }).fill("2");
  await expect(page.getByText("1 configuration, 2 runs").first()).toBeVisible();
  await expect(page.getByRole("table", { name: "Run matrix" }).getByText("scratch")).toBeVisible();
  await page.getByRole("button", { name: "Submit campaign" }).click();
}

async function step(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name }).click();
}

async function planHere(page: Page): Promise<void> {
  const cluster = page.getByRole("group", { name: "e2e", exact: true });
  const here = cluster.getByRole("link", { name: "New campaign here" });
  await page.getByRole("link", { name: "Run a first campaign" }).or(here).click();
}

async function addWorkload(page: Page, title: RegExp): Promise<void> {
  await page.getByRole("button", { name: "Add workload" }).click();
  const menu = page.getByRole("menu");
  await expect(menu.getByRole("menuitem").nth(9)).toBeAttached();
  await expect(menu).toBeInViewport({ ratio: 1 });
  await menu.getByRole("menuitem", { name: title }).click();
}

/**
 * Files of twice the node's memory appear in the preview, or are rejected if this disk has no room, and are not run.
 */
async function foreseeAuto(page: Page): Promise<void> {
  await addWorkload(page, /^dd/);
  await page.getByRole("combobox", { name: "File size" }).fill("auto");
  await step(page, "2 Review");
  const foreseen = page.getByRole("table", { name: "Run matrix" }).getByText("File size auto");
  const refused = page.getByRole("alert", {
    name: /needs .* GiB including the reserve, but scratch on node-1 has/,
  });
  await expect(foreseen.or(refused)).toBeVisible();
  await page.goBack();
  await page.getByRole("button", { name: "Remove dd" }).click();
}

async function watch(page: Page, name: string): Promise<void> {
  await expect(page.getByRole("heading", { name })).toBeVisible();
  const bar = page.getByRole("progressbar", { name: /^Progress of run/ }).first();
  await expect(bar).toBeVisible();
  const seen = new Set<string>();
  await expect
    .poll(async () => {
      // The bar disappears when its run ends.
      const value = await bar.getAttribute("aria-valuenow", { timeout: 500 }).catch(() => null);
      if (value !== null) seen.add(value);
      return seen.size;
    })
    .toBeGreaterThanOrEqual(3);
  await expect(page.getByText("finished: 2 runs")).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole("region", { name: "Answer" })).toBeVisible();
}

async function inspectRun(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByRole("tabpanel").getByRole("link", { name: /^\d+$/ }).first().click();
  await expect(page.getByRole("heading", { name: /^Run \d+$/ })).toBeVisible();
  await page.getByRole("button", { name: /Commands and raw output$/ }).click();
  await expect(page.getByText(/fio --name=iotide/).first()).toBeVisible();
  await page.getByRole("button", { name: /Environment$/ }).click();
  await expect(page.getByRole("table", { name: "Environment" }).getByText("kernel.release")).toBeVisible();
  await expect(page.getByText("Throughput").first()).toBeVisible();
  const curves = page.getByRole("button", { name: /Curves$/ });
  if ((await curves.getAttribute("aria-expanded")) === "false") await curves.click();
  await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
}

async function findPoint(page: Page): Promise<void> {
  const runId =
    (await page.getByRole("heading", { name: /^Run \d+$/ }).textContent())?.replace("Run ", "") ?? "";
  await page.getByRole("table", { name: "Metrics" }).getByRole("link", { name: "Trend" }).first().click();
  const runs = page.getByRole("table", { name: "Runs behind this data point" });
  await expect(runs.getByRole("link", { name: runId, exact: true })).toBeVisible();
  // The address contains the choice; without it, the dot has to be found by hand.
  const address = new URL(page.url());
  address.searchParams.delete("cell");
  await page.goto(address.href);
  await expect(page.getByText("No point selected.")).toBeVisible();
  const dot = page.locator("figure .scatterlayer .point").first();
  await expect(dot).toBeVisible();
  const box = await dot.boundingBox();
  if (!box) throw new Error("the dot has no place");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await expect(runs.getByRole("link", { name: runId, exact: true })).toBeVisible();
}

/** The form and the plan of a workload that only a package on the agent has: the template of docs/plug-ins. */
async function planPlugIn(page: Page): Promise<void> {
  await page.goto("/");
  await planHere(page);
  await page.getByLabel("Campaign name").fill("plug-in");
  await page.getByRole("checkbox", { name: "node-1" }).check();
  await page.getByRole("checkbox", { name: "scratch" }).check();
  await addWorkload(page, /^sha256/);
  const size = page.getByLabel("File size", { exact: true });
  await expect(size).toHaveValue("1 GiB");
  await size.fill("64 MiB");
  await expect(page.getByText("Size of the file, in whole MiB.")).toBeVisible();
  await expect(page.getByText(/1 configuration, \d+ runs?/).first()).toBeVisible();
}
