/** Questions of a storage administrator. Each is answered from the overview within the clicks that it may take. */

import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { walk } from "./clicks";
import { objections } from "./look";
import { items, remove } from "./surroundings";

function needsAttention(page: Page, cluster: string, what: RegExp) {
  const list = page.getByRole("list", { name: "Needs attention" });
  return list.getByRole("listitem").filter({ hasText: cluster }).filter({ hasText: what });
}

test("is anything slow, and why?", async ({ page }) => {
  await walk(page, 1, async ({ press }) => {
    const slow = page
      .getByRole("group", { name: "demo-studio", exact: true })
      .getByRole("link", { name: /^dd/ });
    await expect(slow).toContainText(/slower.*−2\d\.\d % since .*rsize=262144/s);
    await press(slow);
    const changes = page.getByRole("table", { name: "Changes" });
    await expect(changes.getByText(/2[0-9]\.\d % lower, worse \(\d{3} points/).first()).toBeVisible();
    await expect(page.getByText(/rsize/).first()).toBeVisible();
  });
  // The run behind the change is two clicks away.
  await page.getByRole("table", { name: "Changes" }).getByRole("button").first().click();
  const runs = page.getByRole("table", { name: "Runs behind this data point" });
  await runs.getByRole("link", { name: /^\d+$/ }).first().click();
  await expect(page.getByRole("heading", { name: /^Run \d+$/ })).toBeVisible();
});

test("acknowledge a regression for which there is no rule", async ({ page }) => {
  await walk(page, 2, async ({ press, isKeyboard }) => {
    const cluster = isKeyboard ? "demo-studio" : "demo-archive";
    await press(
      needsAttention(page, cluster, /incident|alert/)
        .getByRole("link")
        .last(),
    );
    const incidents = table(page, "Incidents");
    const acknowledge = incidents.getByRole("button", { name: /^Acknowledge: incident/ }).first();
    const id = /\d+$/.exec((await acknowledge.getAttribute("aria-label")) ?? "")?.[0];
    await press(acknowledge);
    const row = incidents.getByRole("row").filter({ has: page.locator(`a[href="/incidents/${id}"]`) });
    await expect(row.getByText("acknowledged", { exact: true })).toBeVisible();
  });
});

test("which node or target is slower than its peers?", async ({ page }) => {
  await walk(page, 1, async ({ press }) => {
    await press(
      needsAttention(page, "demo-archive", /raid-b/)
        .getByRole("link")
        .last(),
    );
    await expect(page.getByText("Outliers: raid-b")).toBeVisible();
    await expect(page.locator("figure .scatterlayer .trace").first()).toBeVisible();
  });
  expect(await objections(page)).toEqual([]);
});

test("why did a run fail?", async ({ page }) => {
  await walk(page, 2, async ({ press, type }) => {
    await press(menu(page, "Runs"));
    await type(page.getByRole("textbox", { name: "Search runs" }), "too-long");
    const runs = table(page, "Runs");
    await expect(runs.getByRole("row")).toHaveCount(2);
    await press(runs.getByRole("link", { name: /^\d+$/ }));
    await expect(page.getByRole("alert").filter({ hasText: "time limit" })).toBeVisible();
  });
});

test("repeat a campaign every night", async ({ page, request }) => {
  await walk(page, 4, async ({ press }) => {
    await press(menu(page, "Campaigns"));
    await press(page.getByRole("link", { name: "every-workload" }).first());
    await press(page.getByRole("link", { name: "Schedule", exact: true }));
    await expect(page.getByRole("radio", { name: "Every night between" })).toBeChecked();
    await expect(page.getByRole("list", { name: "Next firings" }).getByRole("listitem")).toHaveCount(5);
    await press(page.getByRole("button", { name: "Create schedule" }));
    await expect(table(page, "Schedules").getByText("every-workload")).toBeVisible();
    await removeSchedule(request, "every-workload");
  });
});

test("add a person who may see one cluster", async ({ page }) => {
  await walk(page, 3, async ({ press, type, isKeyboard }) => {
    const name = `guest-${isKeyboard}-${Date.now()}`;
    await press(menu(page, "Settings"));
    await press(page.getByRole("link", { name: "People" }));
    await press(page.getByRole("button", { name: "Add person" }));
    const form = page.getByRole("form", { name: "New person" });
    await type(form.getByLabel("Name"), name);
    await expect(form.getByRole("combobox", { name: /^Role in/ })).toHaveValue("viewer");
    await type(form.getByRole("combobox", { name: "Cluster of the role" }), "e2e");
    await expect(page.getByRole("option", { name: "e2e", exact: true })).toBeVisible();
    // The arrow and the first Enter take the only cluster that matches, the second Enter submits.
    for (const key of ["ArrowDown", "Enter", "Enter"]) await page.keyboard.press(key);
    await expect(page.getByRole("dialog")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(table(page, "People").getByRole("row").filter({ hasText: name })).toContainText(
      "viewer in e2e",
    );
  });
});

function menu(page: Page, name: string) {
  return page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
}

function table(page: Page, name: string) {
  return page.getByRole("table", { name, exact: true });
}

async function removeSchedule(request: APIRequestContext, name: string): Promise<void> {
  const schedule = (await items(request, "schedules")).find((one) => one.name === name);
  await remove(request, `schedules/${schedule?.id}`);
}
