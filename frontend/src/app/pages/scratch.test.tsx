import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const NODE = {
  id: 4,
  cluster_id: 1,
  name: "storage01",
  role: "storage",
  slots: 1,
  state: "online",
  last_seen_at: "2026-11-21T10:00:00Z",
  agent_version: "1",
  wire_version: 3,
  agent_standing: "current",
  clock: null,
  credentials_at: "2026-11-01T10:00:00Z",
  rotation_wanted_at: null,
  boot_id: null,
  approved_directories: ["/scratch"],
  facts: {},
  problem: null,
  drain: null,
  mounts: [],
  workloads: [],
  active_orders: [],
  stuck: [],
};
const DISK = {
  id: "3c1f0a52-6f0e-4c2b-9f3a-3d5c1e8a4b01",
  wwn: "naa.5000c500a1b2c3d4",
  serial: "ZC1A2B3C",
  model: "ST3000NM0033",
  size_bytes: 3e12,
  bay: "3",
  adopted_at: "2026-11-19T09:00:00Z",
  adopted_by: "root",
  state: "clean",
};
const SET = {
  id: 8,
  cluster_id: 1,
  node_id: 4,
  node_name: "storage01",
  name: "bays",
  mount_path: "/srv/iotide-scratch/bays",
  state: "clean",
  reason: "",
  variant: null,
  last_used_at: null,
  seen_at: "2026-11-21T10:00:00Z",
  disks: [DISK],
  disks_sha256: "a".repeat(64),
  permission: "disabled",
  enabled: null,
  changes: [],
  failed_cleaning_run_id: null,
  target: null,
  suggested_target: "storage01-bays",
};
const ENABLED = { at: "2026-11-20T10:00:00Z", by: "ada", allows_schedules: true, allows_tokens: false };

function announce(...sets: readonly object[]): void {
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/scratch-sets", () => listOf(sets)),
  );
}

beforeEach(() => server.use(...USUAL_ANSWERS));

it("enables a set only after its name is typed, for the disks that were shown", async () => {
  const sent: unknown[] = [];
  announce(SET);
  server.use(
    http.post("*/api/v1/scratch-sets/8/enable", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...SET, permission: "enabled" });
    }),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Enable bays" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByRole("alert")).toHaveTextContent(
    "ZC1A2B3C (bay 3, ST3000NM0033, 2.73 TiB, adopted by root)",
  );
  const enable = dialog.getByRole("button", { name: "Enable scratch set" });
  await user.type(dialog.getByLabelText("Type bays to confirm"), "bay");
  expect(enable).toBeDisabled();
  await user.type(dialog.getByLabelText("Type bays to confirm"), "s");
  await user.click(dialog.getByLabelText("Schedules may erase these disks, too"));
  await user.click(enable);
  const wanted = { name: "bays", disks_sha256: SET.disks_sha256, target_name: "storage01-bays" };
  await expect.poll(() => sent).toEqual([{ ...wanted, allows_schedules: true, allows_tokens: false }]);
});

it("shows why disks that changed meanwhile are not enabled", async () => {
  const message = "the disks of scratch set bays are no longer those that you saw";
  announce(SET);
  server.use(
    http.post("*/api/v1/scratch-sets/8/enable", () =>
      HttpResponse.json({ error: { code: "scratch_disks_differ", message } }, { status: 409 }),
    ),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Enable bays" }));
  const dialog = within(await screen.findByRole("dialog"));
  await user.type(dialog.getByLabelText("Type bays to confirm"), "bays");
  await user.click(dialog.getByRole("button", { name: "Enable scratch set" }));
  expect(await dialog.findByText(message)).toBeInTheDocument();
});

it("explains how disks are adopted on a node without sets", async () => {
  announce();
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Scratch sets" }));
  expect(screen.getByText(/^sudo iotide-agent scratch adopt/)).toBeInTheDocument();
});

it("says why a set is not cleaned and what to do, and what changed since it was enabled", async () => {
  const changed = { permission: "changed", enabled: ENABLED, changes: ["disk ZC9 (2.73 TiB) was added"] };
  announce({ ...SET, ...changed, state: "dirty", reason: "dd (pid 7) holds it" });
  openDashboard("/nodes/4");
  const set = within(await screen.findByRole("region", { name: "Scratch set bays" }));
  expect(set.getByText("dd (pid 7) holds it")).toBeInTheDocument();
  expect(set.getByText(/iotide-agent scratch wipe bays/)).toBeInTheDocument();
  expect(set.getByText("disk ZC9 (2.73 TiB) was added")).toBeInTheDocument();
  expect(set.getByRole("button", { name: "Enable bays" })).toHaveTextContent("Enable again");
  expect(set.getByRole("button", { name: "Disable bays" })).toBeInTheDocument();
});

it("claims no present state for the sets of a silent node", async () => {
  announce(SET);
  server.use(http.get("*/api/v1/nodes/4", () => HttpResponse.json({ ...NODE, state: "silent" })));
  openDashboard("/nodes/4");
  const set = within(await screen.findByRole("region", { name: "Scratch set bays" }));
  expect(set.getByText("clean when last announced")).toBeInTheDocument();
});

it("retries the failed cleaning of a set that is not clean", async () => {
  const retried: string[] = [];
  announce({ ...SET, state: "dirty", reason: "stays mounted: process 7 (bash)", failed_cleaning_run_id: 31 });
  server.use(
    http.post("*/api/v1/runs/:id/retry", ({ params }) => {
      retried.push(String(params["id"]));
      return HttpResponse.json({});
    }),
  );
  const { user } = openDashboard("/nodes/4");
  const set = within(await screen.findByRole("region", { name: "Scratch set bays" }));
  expect(set.getByRole("link", { name: "run 31" })).toHaveAttribute("href", "/runs/31");
  await user.click(set.getByRole("button", { name: "Clean bays again" }));
  await expect.poll(() => retried).toEqual(["31"]);
});

it("offers neither decision to an operator", async () => {
  const roles = [{ role: "operator", cluster_id: 1 }];
  announce({ ...SET, permission: "enabled", enabled: ENABLED, target: { id: 3, name: "storage01-bays" } });
  server.use(
    http.get("*/api/v1/session", () =>
      HttpResponse.json({ principal: { kind: "user", id: 1, name: "olga", roles } }),
    ),
  );
  openDashboard("/nodes/4");
  const set = within(await screen.findByRole("region", { name: "Scratch set bays" }));
  expect(set.getByRole("link", { name: "storage01-bays" })).toHaveAttribute("href", "/targets/3");
  expect(set.getByText(/also for schedules/)).toBeInTheDocument();
  expect(set.queryByRole("button", { name: /able bays$/ })).not.toBeInTheDocument();
});
