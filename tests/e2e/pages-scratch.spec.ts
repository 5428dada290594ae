/**
 * Scratch sets on a node's page, in the campaign builder and on a campaign's page, and the stripe calculator. No node of
 * the tests has a root helper, so sets and stages are given.
 */

import { expect, type Page, test } from "@playwright/test";
import { heading, look, openLoggedIn, shown } from "./look";
import { items } from "./surroundings";

const DISK = {
  wwn: "naa.5000c500a1b2c3d4",
  model: "ST3000NM0033-9ZM178",
  size_bytes: 3_000_592_982_016,
  adopted_at: "2026-11-19T09:00:00Z",
  adopted_by: "root",
};
const OK = { state: "clean", reason: "", variant: null, permission: "disabled", enabled: null, changes: [] };
const ENABLED = { at: "2026-11-20T10:00:00Z", by: "ada", allows_schedules: true, allows_tokens: true };
const CHANGE = "disk ZC1A2B03 (bay 3, ST3000NM0033-9ZM178, 2.73 TiB) was added";
const SETS = [
  { ...OK, name: "bays" },
  {
    ...OK,
    name: "flash",
    state: "in_use",
    permission: "enabled",
    enabled: ENABLED,
    variant: "raid5 4x64K / xfs / aligned / noatime",
    last_used_at: "2026-11-20T18:30:00Z",
  },
  {
    ...OK,
    name: "old",
    state: "dirty",
    reason: "/srv/iotide-scratch/old stays mounted: process 4711 (bash)",
    permission: "changed",
    enabled: ENABLED,
    changes: [CHANGE],
  },
];

function announced(nodeId: number, clusterId: number): object[] {
  return SETS.map((set, number) => ({
    last_used_at: null,
    ...set,
    id: number + 1,
    cluster_id: clusterId,
    node_id: nodeId,
    node_name: "node-1",
    mount_path: `/srv/iotide-scratch/${set.name}`,
    seen_at: "2026-11-21T10:00:00Z",
    disks: [1, 2, 3].map((bay) => ({
      ...DISK,
      id: `3c1f0a52-6f0e-4c2b-9f3a-00000000000${bay}`,
      serial: `ZC1A2B0${bay}`,
      bay: String(bay),
      state: set.state,
    })),
    disks_sha256: "0".repeat(64),
    failed_cleaning_run_id: set.state === "dirty" ? 1 : null,
    target: set.enabled ? { id: 1, name: `node-1-${set.name}` } : null,
    suggested_target: `node-1-${set.name}`,
  }));
}

async function giveSets(page: Page, sets: readonly object[]): Promise<void> {
  await page.route("**/api/v1/scratch-sets?*", (route) =>
    route.fulfill({ json: { items: sets, next_cursor: null } }),
  );
}

test("scratch sets", async ({ browser, request }) => {
  const nodes = await items<{ id: number; name: string; cluster_id: number }>(request, "nodes");
  const node = nodes.find(({ name }) => name === "node-1");
  const path = `/nodes/${node?.id}`;
  const page = await openLoggedIn(browser);
  await giveSets(page, announced(node?.id ?? 0, node?.cluster_id ?? 0));
  const disks = shown((page) => page.getByRole("table", { name: "Disks of old" }));
  await look(page, { name: "scratch-sets", path, sign: disks });
  const act = async (page: Page) => {
    await page.getByRole("button", { name: "Enable bays" }).click();
    await expect(page.getByLabel("Type bays to confirm")).toBeVisible();
  };
  await look(page, { name: "scratch-enable", path, sign: disks, act });
  await giveSets(page, []);
  await look(page, {
    name: "scratch-none",
    path,
    sign: shown((page) => page.getByRole("button", { name: "Scratch sets" })),
    act: async (page) => {
      await page.getByRole("button", { name: "Scratch sets" }).click();
      await expect(page.getByText(/^sudo iotide-agent scratch adopt/)).toBeVisible();
    },
  });
  await page.context().close();
});

const RAID = "raid5 3x64K / ext4 / aligned / noatime";
const SINGLE = "single / ext4 / default / noatime";
const MADE = {
  ordinal: 1,
  unit_blocks: 0,
  width_blocks: 0,
  size_bytes: 3_000_592_982_016,
  bytes_filled: 2_400_474_385_612,
  make_seconds_estimated: 420,
  is_measured: true,
};
const PREVIEW = {
  node_name: "node-1",
  set_name: "flash",
  clients: [],
  stages: [1, 2].flatMap((round) => [
    { ...MADE, round, variant: SINGLE },
    {
      ...MADE,
      round,
      variant: RAID,
      unit_blocks: 16,
      width_blocks: 32,
      make_seconds_estimated: 19_800,
      is_measured: false,
    },
  ]),
  left_out: [
    { variant: "single / ext4 / aligned / noatime", reason: "single has no stripe; use default" },
    {
      variant: "lvm stripe 2x64K on raid5 4x64K / ext4 / default / noatime",
      reason: "lvm stripe 2x64K on raid5 4x64K needs 8 disks, but the set has 3; adopt more disks",
    },
  ],
  make_seconds_estimated: 40_440,
  make_seconds_known: 40_440,
  bytes_filled: 9_601_897_542_448,
  disk_bytes_per_second: 152_000_000,
};

/** Give previews of the same plan on an ordinary target, with the stages that a node would make; return the blocks. */
async function givePreviews(page: Page, target: string): Promise<object[]> {
  const plans: object[] = [];
  await page.route("**/api/v1/campaigns/preview", async (route) => {
    const { scratch, ...plan } = route.request().postDataJSON();
    if (scratch) plans.push(scratch);
    const response = await route.fetch({ postData: { ...plan, targets: [target] } });
    await route.fulfill({
      response,
      json: { ...(await response.json()), scratch: scratch ? PREVIEW : null },
    });
  });
  return plans;
}

test("scratch disks in the campaign builder", async ({ browser, request }) => {
  const nodes = await items<{ id: number; name: string; cluster_id: number }>(request, "nodes");
  const node = nodes.find(({ name }) => name === "node-1");
  const [target] = await items<{ id: number; name: string }>(
    request,
    `targets?cluster_id=${node?.cluster_id}`,
  );
  const page = await openLoggedIn(browser);
  await giveSets(page, announced(node?.id ?? 0, node?.cluster_id ?? 0));
  const plans = await givePreviews(page, target?.name ?? "");
  const path = `/campaigns/new?cluster=${node?.cluster_id}`;
  const builder = { path, sign: heading("Workloads") };
  const act = async (page: Page) => {
    await page.getByRole("textbox", { name: "Campaign name" }).fill("layouts");
    await page.getByRole("button", { name: "Add create" }).click();
    await page.getByRole("button", { name: /^Scratch disks/ }).click();
    await page.getByLabel("Set of disks").selectOption("node-1/flash");
    await page.getByRole("checkbox", { name: "raid5 3x64K" }).check();
    await page.getByRole("checkbox", { name: "ext3" }).check();
    await page.getByRole("checkbox", { name: /^aligned/ }).check();
    await page.getByLabel("Precondition").selectOption("fill");
    await page.getByRole("textbox", { name: "Fill" }).fill("80");
    await expect(page.getByText(/This campaign erases 3 disks of node-1.flash: ZC1A2B01/)).toBeVisible();
    await expect(page.getByRole("table", { name: "Variants on scratch disks" })).toBeVisible();
  };
  await look(page, { name: "scratch-builder", ...builder, act });
  expect(plans.at(-1)).toMatchObject({ precondition: "fill", fill_ratio: 0.8, rounds: 2 });
  const table = shown((page) => page.getByRole("table", { name: "Variants on scratch disks" }));
  await look(page, { name: "scratch-review", path: `${path}&step=review`, sign: table });
  await page.evaluate(() => sessionStorage.clear());
  await giveSets(page, []);
  await look(page, {
    name: "scratch-builder-none",
    ...builder,
    act: async (page) => {
      await page.getByRole("button", { name: /^Scratch disks/ }).click();
      await expect(page.getByText(/^sudo iotide-agent scratch adopt/)).toBeVisible();
    },
  });
  await page.context().close();
});

const STAGE = {
  pause: null,
  paused_at: null,
  opened_at: null,
  confirmed_by: null,
  state: "open",
  failed: 0,
  cancelled: 0,
};
const MAKE = { ...STAGE, does: "make", runs: 1, ended: 1 };
const MEASURE = { ...STAGE, does: "measure", runs: 4, ended: 4, run_id: null, run_state: null };
const STAGES = [
  { ...MAKE, variant: SINGLE, run_id: 1, run_state: "finished" },
  { ...MEASURE, variant: SINGLE },
  { ...MAKE, variant: RAID, run_id: 2, run_state: "failed" },
  { ...MEASURE, variant: RAID, cancelled: 4 },
  { ...MAKE, variant: "lvm stripe 3x256K / xfs / default / noatime", run_id: 3, run_state: "finished" },
  { ...MEASURE, variant: "lvm stripe 3x256K / xfs / default / noatime", ended: 1 },
  { ...MAKE, does: "clean", variant: "clean", run_id: 4, run_state: "waiting", state: "held", ended: 0 },
].map((stage, index) => ({ ...stage, ordinal: index + 1 }));

test("steps of a campaign on scratch disks", async ({ browser, request }) => {
  const [campaign] = await items(request, "campaigns?state=finished");
  const page = await openLoggedIn(browser);
  await page.route(`**/api/v1/campaigns/${campaign?.id}`, async (route) => {
    const response = await route.fetch();
    const shown = await response.json();
    const plan = { ...shown.plan, scratch: { rounds: 1 } };
    const none = { waiting: 0, active: 0, finished: 0, failed: 0, cancelled: 0 };
    const preparations = [
      { ...none, does: "make", finished: 2, failed: 1 },
      { ...none, does: "clean", waiting: 1 },
    ];
    await route.fulfill({ response, json: { ...shown, plan, preparations, stages: STAGES } });
  });
  await look(page, {
    name: "scratch-steps",
    path: `/campaigns/${campaign?.id}?tab=runs`,
    sign: shown((page) => page.getByRole("table", { name: "Steps on the scratch disks" })),
  });
  await page.context().close();
});

test("stripe calculator", async ({ browser }) => {
  const page = await openLoggedIn(browser);
  const commands = shown((page) => page.getByRole("table", { name: /^mkfs commands/ }));
  await look(page, {
    name: "stripes",
    path: "/tools/stripes?layout=lvm-stripe:3x256K/raid5:5x64K",
    sign: commands,
  });
  await look(page, {
    name: "stripes-impossible",
    path: "/tools/stripes?layout=raid5:2x64K",
    sign: shown((page) => page.getByRole("alert")),
  });
  await page.context().close();
});
