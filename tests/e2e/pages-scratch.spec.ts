/** Scratch sets on a node's page. No node of the tests has a root helper, so the list is given. */

import { expect, type Page, test } from "@playwright/test";
import { look, openLoggedIn, shown } from "./look";
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
