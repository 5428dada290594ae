/** Tasks on campaigns during and after their runs, each in at most six clicks from the overview. */

import { expect, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { items, post, slowWrites } from "./surroundings";

const BUSY = `busy-${Date.now()}`;
let busy: number | undefined;

test.beforeAll(async ({ request }) => {
  const plan = { cluster: "e2e", nodes: ["node-1"], targets: ["scratch"], repeats: 2 };
  busy = (
    await post(request, "campaigns", {
      ...plan,
      name: BUSY,
      workloads: [{ workload: "fio", options: slowWrites(120) }],
    })
  ).id;
  const active = async () => (await items(request, `runs?campaign_id=${busy}&state=active`)).length;
  await expect.poll(active, { timeout: 60_000 }).toBe(1);
});

test.afterAll(async ({ request }) => {
  await post(request, `campaigns/${busy}/cancel`);
});

test("find out why a run waits", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("link", { name: BUSY }).first().click();
    const waiting = page.getByRole("table", { name: "Waiting reasons" });
    await expect(waiting).toContainText(/Waiting for node node-1 \(run \d+, exclusive\)/);
    await waiting.getByRole("link").first().click();
    await expect(page.getByRole("alert", { name: "Waiting reason" })).toContainText(
      /Expected start|Start time unknown/,
    );
  });
});

test("cancel a running one", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("link", { name: BUSY }).first().click();
    const active = page.getByRole("table", { name: "Active runs" });
    await expect(active.getByRole("img", { name: /^write throughput of run/ })).toBeVisible({
      timeout: 40_000,
    });
    await active.getByRole("link").first().click();
    // The page before has such a button, too.
    await expect(page.getByRole("heading", { name: /^Run \d+/ }).first()).toBeVisible();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await expect(page.getByText(/cancelled by/).first()).toBeVisible({ timeout: 40_000 });
  });
});

test("add repeats to a comparison with too few", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Campaigns" }).click();
    await page.getByRole("link", { name: "every-workload" }).first().click();
    await expect(page.getByText(/^(finished|failed): /)).toBeVisible();
    await page.getByRole("button", { name: "Add repeats", exact: true }).click();
    await page.getByRole("button", { name: /^Add \d+ runs$/ }).click();
    await expect(page.getByText(/^\d+ runs: .*waiting/)).toBeVisible();
    await expect(page.getByRole("dialog")).not.toBeVisible();
  });
});
