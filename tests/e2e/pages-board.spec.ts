/** The overview and the pages of a cluster, a node and a target; and the navigation menu on a phone. */

import { expect, test } from "@playwright/test";
import { heading, look, NARROW, openLoggedIn, shown } from "./look";
import { items, post } from "./surroundings";

/** A cluster without nodes. */
const EMPTY_CLUSTER = `bare-${Date.now()}`;

test.beforeAll(async ({ request }) => {
  await post(request, "clusters", { name: EMPTY_CLUSTER });
});

test("the overview, and what its rows lead to", async ({ browser, request }) => {
  const clusters = await items(request, "clusters");
  const cluster = clusters.find(({ name }) => name === "e2e")?.id;
  const bare = clusters.find(({ name }) => name === EMPTY_CLUSTER)?.id;
  const [node] = (await items(request, "nodes")).filter(({ name }) => name === "node-1");
  const [target] = (await items(request, "targets")).filter(({ name }) => name === "scratch");
  const board = shown((page) =>
    page
      .getByRole("group", { name: "e2e", exact: true })
      .getByRole("link", { name: /no baseline/ })
      .first(),
  );
  const page = await openLoggedIn(browser);
  await look(page, { name: "overview", path: "/?days=7", sign: board });
  await look(page, { name: "cluster", path: `/clusters/${cluster}`, sign: board });
  await look(page, {
    name: "cluster-mounts",
    path: `/clusters/${cluster}`,
    sign: heading("Cluster e2e"),
    act: async () => {
      await page.getByRole("button", { name: "Add targets" }).click();
      const mounts = page.getByRole("table", { name: "Discovered mounts" });
      await mounts.getByRole("checkbox").first().check();
    },
  });
  const join = shown((page) => page.getByRole("button", { name: "Create join token" }));
  await look(page, { name: "cluster-empty", path: `/clusters/${bare}`, sign: join });
  const runs = shown((page) => page.getByRole("table", { name: "Latest runs" }));
  await look(page, { name: "node", path: `/nodes/${node?.id}`, sign: runs });
  const trends = shown((page) => page.getByRole("region", { name: /^Trend by workload/ }));
  await look(page, {
    name: "target",
    path: `/targets/${target?.id}`,
    sign: trends,
    act: async () => {
      await page.getByRole("button", { name: "Storage layers" }).click();
      await expect(page.getByRole("img", { name: /^Layers of scratch/ }).first()).toBeVisible();
    },
  });
  await page.context().close();
});

test("every place of the menu is reached on a narrow screen", async ({ browser }) => {
  const page = await openLoggedIn(browser);
  await page.setViewportSize(NARROW);
  await page.goto("/");
  const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect(links.first()).toBeInViewport();
  for (const link of await links.all()) {
    await link.scrollIntoViewIfNeeded();
    // Nearly all of it: a browser scrolls by whole pixels, and link heights differ slightly.
    await expect(link).toBeInViewport({ ratio: 0.95 });
  }
  await links.last().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Settings");
  // The active item stays visible when the page is reloaded.
  await page.reload();
  await expect(links.last()).toBeInViewport({ ratio: 0.95 });
  await page.context().close();
});
