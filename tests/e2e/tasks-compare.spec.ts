/** Two targets are compared: by a new campaign, and by pinned runs of it. */

import { expect, type Page, test } from "@playwright/test";
import { walk } from "./clicks";
import { objections } from "./look";
import { cancelShown, given, items, post } from "./surroundings";

const NAME = "two-targets";

test.beforeAll(async ({ request }) => {
  const [cluster] = (await items(request, "clusters")).filter(({ name }) => name === "e2e");
  const known = await items(request, `targets?cluster_id=${cluster?.id}`);
  // Playwright runs this again after a failure.
  if (known.some(({ name }) => name === "spare")) return;
  const nodes = await items(request, `nodes?cluster_id=${cluster?.id}`);
  await post(request, "targets", {
    cluster_id: cluster?.id,
    name: "spare",
    path: given("IOTIDE_SPARE"),
    scope: "node",
    nodes: nodes.filter(({ name }) => name === "node-1").map(({ id }) => id),
    reserve_bytes: null,
  });
});

test("which of two targets is faster, for several sizes?", async ({ page, request }) => {
  await walk(page, 5, async ({ press, type, isKeyboard }) => {
    const name = isKeyboard ? "targets-by-keyboard" : NAME;
    const cluster = page.getByRole("group", { name: "e2e", exact: true });
    await press(cluster.getByRole("link", { name: "New campaign here" }));
    await type(page.getByLabel("Campaign name"), name);
    // A single node of the cluster is selected already.
    await expect(page.getByRole("checkbox", { name: "node-1" })).toBeChecked();
    await press(page.getByRole("checkbox", { name: "scratch" }));
    await press(page.getByRole("checkbox", { name: "spare" }));
    await press(page.getByRole("button", { name: "Add dd", exact: true }));
    await type(page.getByRole("combobox", { name: "File size" }), "1M, 2M");
    await expect(page.getByText("Sweep of 2: 1 MiB, 2 MiB")).toBeVisible();
    await press(page.getByRole("button", { name: "Submit campaign" }));
    await expect(page.getByRole("heading", { name })).toBeVisible();
    if (isKeyboard) return cancelShown(page, request);
    await readsAnswer(page);
  });
});

test("compare two pinned runs", async ({ page }) => {
  await walk(page, 4, async ({ press, type, isKeyboard }) => {
    await press(page.getByRole("navigation").getByRole("link", { name: "Runs" }));
    await type(page.getByRole("textbox", { name: "Search runs" }), NAME);
    const runs = page.getByRole("table", { name: "Runs", exact: true });
    // Before the search is done, runs of other campaigns are listed as well.
    await expect(runs.getByRole("row")).toHaveCount(17);
    const pin = (target: string) =>
      runs
        .getByRole("row")
        .filter({ has: page.getByRole("cell", { name: target, exact: true }) })
        // Runs are in random order; those of different sizes are not comparable.
        .filter({ hasText: "File size 1 MiB" })
        .first()
        .getByRole("checkbox");
    await press(pin("scratch"));
    await press(pin("spare"));
    const pinned = page.getByRole("table", { name: "Pinned runs" });
    await expect(pinned.getByText("baseline", { exact: true })).toBeVisible();
    if (!isKeyboard) await isAccessible(page);
    await press(page.getByRole("link", { name: "Compare pinned" }));
    const answer = page.getByRole("table", { name: "Primary metrics" });
    await expect(
      answer.getByText(/not significant|better|worse|practical threshold|two modes/).first(),
    ).toBeVisible();
    await expect(answer.getByText("n 4 and 4").first()).toBeVisible();
  });
});

async function readsAnswer(page: Page): Promise<void> {
  await expect(page.getByText("finished: 16 runs")).toBeVisible({ timeout: 90_000 });
  const answer = page.getByRole("region", { name: "Answer" }).getByRole("list", { name: "Answer" });
  await expect(answer.getByRole("listitem").first()).toContainText(
    /(spare|scratch) is .*(as fast|faster|slower)|No difference shown: spare and scratch/,
  );
}

async function isAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
    expect.soft(await objections(page, colorScheme), colorScheme).toEqual([]);
  }
}
