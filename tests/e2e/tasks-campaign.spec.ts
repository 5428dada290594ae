/** Tasks on campaigns during and after their runs, each from the overview within the clicks that it may take. */

import { expect, test } from "@playwright/test";
import { walk } from "./clicks";
import { cancelShown, items, post, slowWrites } from "./surroundings";

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

test("why does a run wait?", async ({ page }) => {
  await walk(page, 2, async ({ press }) => {
    await press(page.getByRole("link", { name: BUSY }).first());
    const waiting = page.getByRole("table", { name: "Waiting reasons" });
    await expect(waiting).toContainText(/Waiting for node node-1 \(run \d+, exclusive\)/);
    await press(waiting.getByRole("link").first());
    await expect(page.getByRole("alert", { name: "Waiting reason" })).toContainText(
      /Expected start|Start time unknown/,
    );
  });
});

test("cancel an active run", async ({ page }) => {
  await walk(page, 4, async ({ press, isKeyboard }) => {
    await press(page.getByRole("link", { name: BUSY }).first());
    const active = page.getByRole("table", { name: "Active runs" });
    if (!isKeyboard)
      await expect(active.getByRole("img", { name: /^write throughput of run/ })).toBeVisible({
        timeout: 40_000,
      });
    await press(active.getByRole("link").first());
    // The page before has such a button, too.
    await expect(page.getByRole("heading", { name: /^Run \d+/ }).first()).toBeVisible();
    await press(page.getByRole("button", { name: "Cancel" }));
    await press(page.getByRole("button", { name: "Cancel run" }));
    await expect(page.getByText(/cancelled by/).first()).toBeVisible({ timeout: 40_000 });
  });
});

test("add repeats to a campaign with too few", async ({ page, request }) => {
  await walk(page, 4, async ({ press, isKeyboard }) => {
    await press(page.getByRole("navigation").getByRole("link", { name: "Campaigns" }));
    await press(page.getByRole("link", { name: "every-workload" }).first());
    await press(page.getByRole("button", { name: "Add repeats", exact: true }));
    const add = page.getByRole("button", { name: /^Add \d+ runs$/ });
    if (isKeyboard) return expect(add).toBeVisible();
    await press(add);
    await expect(page.getByText(/^\d+ runs: .*waiting/)).toBeVisible();
    await expect(page.getByRole("dialog")).not.toBeVisible();
    await cancelShown(page, request);
  });
});
