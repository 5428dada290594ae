/** Two file systems are compared, in at most six clicks from the overview. */

import { expect, type Page, test } from "@playwright/test";
import { inFewClicks } from "./clicks";
import { objections } from "./look";
import { given, items, post } from "./surroundings";

const NAME = `two-file-systems-${Date.now()}`;

/** Four runs of each: the fewest that have an interval. */
test.beforeAll(async ({ request }) => {
  const [cluster] = (await items(request, "clusters")).filter(({ name }) => name === "e2e");
  const [node] = (await items(request, `nodes?cluster_id=${cluster?.id}`)).filter(
    ({ name }) => name === "node-1",
  );
  await post(request, "targets", {
    cluster_id: cluster?.id,
    name: "spare",
    path: given("IOTIDE_SPARE"),
    scope: "node",
    nodes: [node?.id],
    reserve_bytes: null,
  });
  const options = { file_size_bytes: "1 MiB", block_size_bytes: "64 KiB" };
  const places = { cluster: "e2e", nodes: ["node-1"], targets: ["scratch", "spare"] };
  const workloads = [{ workload: "dd", options }];
  const { id } = await post(request, "campaigns", {
    name: NAME,
    ...places,
    repeats: 4,
    cache: "none",
    workloads,
  });
  const isFinished = async () =>
    (await items(request, "campaigns?state=finished")).some((campaign) => campaign.id === id);
  await expect.poll(isFinished, { timeout: 90_000 }).toBe(true);
});

test("compare two file systems and read the verdict", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Compare" }).click();
    await page
      .getByRole("table", { name: "Latest campaigns" })
      .getByRole("row")
      .filter({ hasText: NAME })
      .getByRole("checkbox")
      .click();
    await page.getByRole("button", { name: "By target" }).click();
    await readsVerdict(page);
  });
  await isAccessible(page);
});

test("compare two pinned runs", async ({ page }) => {
  await inFewClicks(page, async () => {
    await page.getByRole("navigation").getByRole("link", { name: "Runs" }).click();
    await page.getByRole("textbox", { name: "Search runs" }).fill(NAME);
    const runs = page.getByRole("table", { name: "Runs" });
    await expect(runs.getByRole("row")).toHaveCount(9);
    const pin = (target: string) =>
      runs
        .getByRole("row")
        .filter({ has: page.getByRole("cell", { name: target, exact: true }) })
        .first()
        .getByRole("checkbox");
    await pin("scratch").click();
    await pin("spare").click();
    await expect(
      page.getByRole("table", { name: "Pinned runs" }).getByText("baseline", { exact: true }),
    ).toBeVisible();
    await isAccessible(page);
    await page.getByRole("link", { name: "Compare pinned" }).click();
    await readsVerdict(page);
  });
});

async function readsVerdict(page: Page): Promise<void> {
  const answer = page.getByRole("table", { name: "Primary metrics" });
  await expect(
    answer.getByText(/not significant|better|worse|practical threshold|two modes/).first(),
  ).toBeVisible();
  await expect(answer.getByText("n 4 and 4").first()).toBeVisible();
}

async function isAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
    expect.soft(await objections(page, colorScheme), colorScheme).toEqual([]);
  }
}
