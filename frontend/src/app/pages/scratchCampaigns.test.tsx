/** Campaigns on scratch disks: the builder's axis, the steps of a campaign, and the stripe calculator. */

import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const NODE = { id: 4, name: "storage01", role: "storage", state: "online", workloads: [] };
const SET = {
  id: 8,
  node_id: 4,
  node_name: "storage01",
  name: "bays",
  permission: "enabled",
  disks: [1, 2, 3, 4].map((bay) => ({ id: `d${bay}`, serial: `ZC${bay}`, bay: `${bay}`, size_bytes: 3e12 })),
};
const DD = { id: 1, name: "dd", title: "dd", description: "", options_schema: {}, step_roles: [] };

function offer(...sets: readonly object[]): void {
  server.use(
    http.get("*/api/v1/nodes", () => listOf([NODE])),
    http.get("*/api/v1/workloads", () => listOf([DD])),
    http.get("*/api/v1/scratch-sets", () => listOf(sets)),
  );
}

beforeEach(() => {
  sessionStorage.clear();
  server.use(...USUAL_ANSWERS);
});

it("plans the layouts and file systems that were checked, and names the disks before it is submitted", async () => {
  const plans: { targets: string[]; scratch: object }[] = [];
  offer(SET);
  server.use(
    http.post("*/api/v1/campaigns/preview", async ({ request }) => {
      plans.push((await request.json()) as (typeof plans)[number]);
      return HttpResponse.json({}, { status: 503 });
    }),
  );
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.type(await screen.findByRole("textbox", { name: "Campaign name" }), "below");
  await user.click(screen.getByRole("button", { name: "Add dd" }));
  await user.click(screen.getByRole("button", { name: /Scratch disks/ }));
  expect(screen.queryByText(/This campaign erases/)).not.toBeInTheDocument();
  await user.selectOptions(await screen.findByRole("combobox", { name: "Set of disks" }), "storage01/bays");
  expect(
    screen.getByText(/This campaign erases 4 disks of storage01\/bays: ZC1 \(bay 1\)/),
  ).toHaveTextContent("ZC4 (bay 4)");
  await user.click(screen.getByRole("checkbox", { name: "raid5 4x64K" }));
  await user.selectOptions(screen.getByRole("combobox", { name: "Chunk" }), "256K");
  expect(screen.getByRole("checkbox", { name: "raid5 4x256K" })).not.toBeChecked();
  await user.type(
    screen.getByLabelText("Other layouts", { selector: "input" }),
    "lvm-linear/raid5:4x64K{Enter}",
  );
  await user.click(screen.getByRole("checkbox", { name: "xfs" }));
  await waitFor(() =>
    expect(plans.at(-1)).toMatchObject({
      targets: ["storage01/bays"],
      nodes: ["storage01"],
      scratch: {
        node: "storage01",
        set: "bays",
        layouts: ["single", "raid5 4x64K", "lvm linear on raid5 4x64K"],
        filesystems: [{ type: "ext4" }],
        rounds: 2,
      },
    }),
  );
});

const CLIENT = { id: 5, name: "node02", role: "client", state: "online", workloads: [] };
const EXPORT = { id: 9, name: "bays-nfs", path: "/mnt/bays", mounts: [] };
const STAGES = [
  { round: 1, variant: "single / ext4 / default / noatime / fill 80 %", seconds: 5400, filled: 4.95e12 },
  { round: 1, variant: "single / xfs / default / noatime / fill 80 %", seconds: null, filled: 4.95e12 },
];
const ANSWER = {
  ...{ cells: [], cell_count: 2, run_count: 8, seconds_estimated: null, seconds_unknown_because: null },
  ...{ bytes_peak: 0, bytes_moved: 0, wear: [], warnings: [], power: [] },
  scratch: {
    ...{ node_name: "storage01", set_name: "bays", clients: ["node02"], left_out: [] },
    ...{ make_seconds_estimated: null, make_seconds_known: 5400, bytes_filled: 9.9e12 },
    disk_bytes_per_second: null,
    stages: STAGES.map(({ seconds, filled, ...stage }, index) => ({
      ...{ ...stage, ordinal: index + 1, unit_blocks: 0, width_blocks: 0, size_bytes: 3e12 },
      ...{ bytes_filled: filled, make_seconds_estimated: seconds, is_measured: seconds !== null },
    })),
  },
};

it("plans a precondition, a fill and an export to clients, and shows the bytes and minutes of each variant", async () => {
  const plans: { scratch: object }[] = [];
  offer(SET);
  server.use(
    http.get("*/api/v1/nodes", () => listOf([NODE, CLIENT])),
    http.get("*/api/v1/targets", () => listOf([EXPORT])),
    http.post("*/api/v1/campaigns/preview", async ({ request }) => {
      plans.push((await request.json()) as (typeof plans)[number]);
      return HttpResponse.json(ANSWER);
    }),
  );
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.type(await screen.findByRole("textbox", { name: "Campaign name" }), "served");
  await user.click(screen.getByRole("button", { name: "Add dd" }));
  await user.click(screen.getByRole("button", { name: /Scratch disks/ }));
  await user.selectOptions(await screen.findByRole("combobox", { name: "Set of disks" }), "storage01/bays");
  await user.selectOptions(screen.getByRole("combobox", { name: "Precondition" }), "fill");
  await user.type(screen.getByRole("textbox", { name: "Fill" }), "80");
  await user.click(screen.getByRole("checkbox", { name: "Serve by NFS" }));
  expect(
    screen.getByText(/^Choose the target at which the clients mount storage01\/bays/),
  ).toBeInTheDocument();
  await user.click(screen.getByRole("checkbox", { name: "bays-nfs" }));
  await waitFor(() =>
    expect(plans.at(-1)?.scratch).toMatchObject({ precondition: "fill", fill_ratio: 0.8, serves: "nfs" }),
  );
  const table = within(await screen.findByRole("table", { name: "Variants on scratch disks" }));
  expect(
    table.getByRole("row", { name: /ext4 .* 2.73 TiB 4.5 TiB about 1.5 h make as measured/ }),
  ).toBeInTheDocument();
  expect(table.getByRole("row", { name: /xfs .* 2.73 TiB 4.5 TiB unknown/ })).toBeInTheDocument();
  expect(
    screen.getByText(/about 1.5 h for 1 of 2 makes, unknown for the others, 9 TiB written by fills/),
  ).toBeInTheDocument();
  expect(screen.getByText(/^How fast these disks write is unknown/)).toBeInTheDocument();
  await user.clear(screen.getByRole("textbox", { name: "Fill" }));
  await user.click(screen.getByRole("checkbox", { name: "Serve by NFS" }));
  await waitFor(() => {
    expect(plans.at(-1)?.scratch).not.toHaveProperty("fill_ratio");
    expect(plans.at(-1)?.scratch).not.toHaveProperty("serves");
  });
});

it.each([
  ["12.5", 0.125],
  ["0.5", 0.005],
  ["10", 0.1],
])("takes a fill of %s % as it is typed", async (typed, ratio) => {
  const plans: { scratch: object }[] = [];
  offer(SET);
  server.use(
    http.post("*/api/v1/campaigns/preview", async ({ request }) => {
      plans.push((await request.json()) as (typeof plans)[number]);
      return HttpResponse.json(ANSWER);
    }),
  );
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.type(await screen.findByRole("textbox", { name: "Campaign name" }), "filled");
  await user.click(screen.getByRole("button", { name: "Add dd" }));
  await user.click(screen.getByRole("button", { name: /Scratch disks/ }));
  await user.selectOptions(await screen.findByRole("combobox", { name: "Set of disks" }), "storage01/bays");
  await user.type(screen.getByRole("textbox", { name: "Fill" }), typed);
  expect(screen.getByRole("textbox", { name: "Fill" })).toHaveValue(`${typed} %`);
  await waitFor(() => expect(plans.at(-1)?.scratch).toMatchObject({ fill_ratio: ratio }));
});

it("offers to keep the files of a fill only on scratch disks", async () => {
  const keep = { type: "boolean", title: "Keep files", default: false };
  const fill = { ...DD, id: 2, name: "fill", title: "fill", options_schema: { properties: { keep } } };
  offer(SET);
  server.use(http.get("*/api/v1/workloads", () => listOf([fill])));
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.click(await screen.findByRole("button", { name: "Add fill" }));
  expect(screen.queryByText("Keep files")).not.toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: /Scratch disks/ }));
  await user.selectOptions(await screen.findByRole("combobox", { name: "Set of disks" }), "storage01/bays");
  expect(screen.getByText("Keep files")).toBeInTheDocument();
});

it("keeps the set of a draft across a reload", async () => {
  offer(SET);
  const first = openDashboard("/campaigns/new?cluster=1");
  await first.user.click(await screen.findByRole("button", { name: /Scratch disks/ }));
  await first.user.selectOptions(await screen.findByLabelText("Set of disks"), "storage01/bays");
  first.unmount();
  openDashboard("/campaigns/new?cluster=1");
  expect(await screen.findByRole("checkbox", { name: "storage01/bays" })).toBeChecked();
  expect(screen.getByText(/^storage01\/bays, 1 layout/)).toBeInTheDocument();
});

it("says how to adopt disks where there is no set, and who enables one that is not enabled", async () => {
  offer();
  const first = openDashboard("/campaigns/new?cluster=1");
  await first.user.click(await screen.findByRole("button", { name: /Scratch disks/ }));
  expect(await screen.findByText(/^sudo iotide-agent scratch adopt/)).toBeInTheDocument();
  first.unmount();
  offer({ ...SET, permission: "changed" });
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.click(await screen.findByRole("button", { name: /Scratch disks/ }));
  expect(await screen.findByRole("link", { name: "storage01/bays" })).toHaveAttribute("href", "/nodes/4");
  expect(screen.queryByLabelText("Set of disks")).not.toBeInTheDocument();
});

const STAGE = { pause: null, paused_at: null, opened_at: null, confirmed_by: null, state: "open" };
const FILLED = "single / ext4 / default / noatime / fill 80 %";
const RAID = "raid5 4x64K / xfs / aligned / noatime";

it("shows the steps of a campaign with their runs, and names a failed make and its cancelled runs", async () => {
  const made = { ...STAGE, does: "make", runs: 1, ended: 1, failed: 0, cancelled: 0 };
  const measured = { ...STAGE, does: "measure", runs: 4, failed: 0, run_id: null, run_state: null };
  const stages = [
    { ...made, ordinal: 1, variant: "single / xfs / default / noatime", run_id: 11, run_state: "finished" },
    { ...measured, ordinal: 2, variant: "single / xfs / default / noatime", ended: 1, cancelled: 0 },
    { ...made, ordinal: 3, variant: RAID, run_id: 12, run_state: "failed" },
    { ...measured, ordinal: 4, variant: RAID, ended: 4, cancelled: 4 },
    { ...made, ordinal: 5, variant: FILLED, run_id: 14, run_state: "finished" },
    { ...made, ordinal: 6, does: "fill", variant: FILLED, run_id: 15, run_state: "failed" },
    { ...measured, ordinal: 7, variant: FILLED, ended: 4, cancelled: 4 },
    { ...made, ordinal: 8, does: "mount", variant: RAID, run_id: 16, run_state: "failed" },
    { ...measured, ordinal: 9, variant: RAID, ended: 2, cancelled: 2 },
    {
      ...made,
      ordinal: 10,
      does: "clean",
      variant: "clean",
      run_id: 13,
      run_state: "waiting",
      state: "held",
    },
  ];
  const campaign = {
    ...{ id: 9, name: "below", cluster_id: 1, cluster_name: "hpc1", owner: "grace", state: "active", stages },
    plan: { note: "", workloads: [], targets: [], scratch: { rounds: 1 } },
    created_at: "2026-11-21T10:00:00Z",
    counts: { waiting: 1, active: 1, finished: 2, failed: 0, cancelled: 4 },
    preparations: [
      { does: "make", waiting: 0, active: 0, finished: 2, failed: 1, cancelled: 0 },
      { does: "clean", waiting: 1, active: 0, finished: 0, failed: 0, cancelled: 0 },
    ],
    ...{ progress: 0.5, seconds_remaining_estimated: null },
  };
  server.use(
    http.get("*/api/v1/campaigns/9", () => HttpResponse.json(campaign)),
    http.get("*/api/v1/campaigns/9/measures", () => HttpResponse.json({ metrics: [], counters: [] })),
    http.get("*/api/v1/campaigns/9/cells", () => listOf([])),
  );
  openDashboard("/campaigns/9");
  const table = within(await screen.findByRole("table", { name: "Steps on the scratch disks" }));
  expect(table.getByRole("row", { name: /^single .* open 1 of 4 ended/ })).toBeInTheDocument();
  expect(table.getByRole("row", { name: /not made 4 of 4 ended, 4 cancelled run 12/ })).toBeInTheDocument();
  expect(table.getByRole("row", { name: /^Clean the disks later/ })).toBeInTheDocument();
  expect(table.getByRole("link", { name: "run 12" })).toHaveAttribute("href", "/runs/12");
  expect(screen.getByText(`${RAID} was not made; 4 runs on it were cancelled.`)).toBeInTheDocument();
  expect(table.getByRole("row", { name: /^Fill single .* not filled run 15/ })).toBeInTheDocument();
  expect(screen.getByText(`${FILLED} was not filled; 4 runs on it were cancelled.`)).toBeInTheDocument();
  expect(table.getByRole("row", { name: /^Mount on the clients not mounted run 16/ })).toBeInTheDocument();
  expect(screen.getByText(/was not mounted on the clients; 2 runs on it were cancelled/)).toBeInTheDocument();
  expect(screen.getByText(/^One make each/)).toBeInTheDocument();
  expect(screen.getByText(/^8 runs: 2 finished, 4 cancelled, 1 active, 1 waiting$/)).toBeInTheDocument();
  expect(screen.getByText("Scratch disks: 3 makes (1 failed), 1 cleaning")).toBeInTheDocument();
});

const STRIPES = {
  layout: "raid5 4x64K",
  disks: 4,
  data_disks: 3,
  chunk_bytes: 65_536,
  width_bytes: 196_608,
  minimum_io_bytes: 65_536,
  optimal_io_bytes: 196_608,
  block_bytes: 4096,
  start_multiple_bytes: 3_145_728,
  pe_start_bytes: 1_179_648,
  lvm_chunk_choices_bytes: [],
  mkfs: [
    {
      filesystem: "ext4",
      align: "aligned",
      command: ["mkfs.ext4", "-E", "stride=16,stripe_width=48", "DEVICE"],
      ...{ unit_blocks: 16, width_blocks: 48, problem: null },
    },
  ],
  notes: [],
};

it("calculates a layout, and says what is wrong with an impossible one", async () => {
  const asked: (string | null)[] = [];
  server.use(
    http.get("*/api/v1/stripes", ({ request }) => {
      const layout = new URL(request.url).searchParams.get("layout");
      asked.push(layout);
      if (layout === "raid5:4x64K") return HttpResponse.json(STRIPES);
      const error = {
        code: "layout_impossible",
        message: "2 disks for raid5 2x64K",
        remedy: "use at least 3",
      };
      return HttpResponse.json({ error }, { status: 422 });
    }),
  );
  const { user } = openDashboard("/tools/stripes");
  expect(await screen.findByText("mkfs.ext4 -E stride=16,stripe_width=48 DEVICE")).toBeInTheDocument();
  const layout = screen.getByRole("textbox", { name: "Layout" });
  await user.clear(layout);
  await user.type(layout, "raid5:2x64K{Enter}");
  expect(await screen.findByText(/2 disks for raid5 2x64K/)).toBeInTheDocument();
  expect(asked).toEqual(["raid5:4x64K", "raid5:2x64K"]);
});
