/** Browsers keep six connections to a server: twenty tabs of one campaign are live all the same. */

import { expect, test } from "@playwright/test";
import { expectNoStrays, watchStrays } from "./strays";
import { post, signIn } from "./surroundings";

const TABS = 20;

test("twenty tabs of one campaign stay live", async ({ browser, request }) => {
  const options = { rw: "write", file_size_bytes: "4 MiB", block_size_bytes: "4 KiB", runtime_seconds: 300 };
  const { id } = await post(request, "campaigns", {
    name: `tabs-${Date.now()}`,
    cluster: "e2e",
    nodes: ["node-1"],
    targets: ["scratch"],
    repeats: 2,
    workloads: [{ workload: "fio", options }],
  });
  // What moves on twenty pages at once is most of their work.
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await watchStrays(context);
  const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
  for (const tab of tabs) {
    await signIn(tab);
    await tab.goto(`/campaigns/${id}`);
    await expect(tab.getByRole("status").filter({ hasText: "live" })).toBeVisible();
  }
  for (const tab of tabs) await expect(tab.getByText(/^2 runs: 1 active/)).toBeVisible({ timeout: 60_000 });
  await post(request, `campaigns/${id}/cancel`);
  await Promise.all(
    tabs.map((tab) => expect(tab.getByText(/^2 runs: 2 cancelled/)).toBeVisible({ timeout: 30_000 })),
  );
  // Each can still ask for more.
  for (const tab of tabs) {
    await tab.getByRole("tab", { name: "Runs" }).click();
    await expect(tab.getByRole("tabpanel").getByRole("link", { name: /^\d+$/ })).toHaveCount(2);
  }
  expectNoStrays(context, "tabs");
  await context.close();
});
