/** Browsers keep six connections to a server, but twenty tabs of one campaign are all live. */

import { expect, test } from "@playwright/test";
import { expectNoForeignRequests, watchForeignRequests } from "./foreignRequests";
import { post, signIn, slowWrites } from "./surroundings";

const TABS = 20;
let watched: number | undefined;

// Also after a failure: the next walks need the node.
test.afterAll(async ({ request }) => {
  await post(request, `campaigns/${watched}/cancel`);
});

test("twenty tabs of one campaign stay live", async ({ browser, request }) => {
  const { id } = await post(request, "campaigns", {
    name: `tabs-${Date.now()}`,
    cluster: "e2e",
    nodes: ["node-1"],
    targets: ["scratch"],
    repeats: 2,
    workloads: [{ workload: "fio", options: slowWrites(600) }],
  });
  watched = id;
  // Animations on twenty pages at once would be most of their work.
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await watchForeignRequests(context);
  const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
  for (const tab of tabs) {
    await signIn(tab);
    await tab.goto(`/campaigns/${id}`);
    await expect(tab.getByRole("status").filter({ hasText: "live" })).toBeVisible();
  }
  for (const tab of tabs) await expect(tab.getByText(/^2 runs: 1 active/)).toBeVisible({ timeout: 60_000 });
  await post(request, `campaigns/${id}/cancel`);
  await Promise.all(
    tabs.map((tab) => expect(tab.getByText(/^cancelled: 2 cancelled/)).toBeVisible({ timeout: 30_000 })),
  );
  // Each can still send requests.
  for (const tab of tabs) {
    await tab.getByRole("tab", { name: "Runs" }).click();
    await expect(tab.getByRole("tabpanel").getByRole("link", { name: /^\d+$/ })).toHaveCount(2);
  }
  expectNoForeignRequests(context, "tabs");
  await context.close();
});
