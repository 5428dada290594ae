import { listOf, NO_BOARD, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const MOUNT = { path: "/scratch", fstype: "xfs", source: "/dev/md0", total_bytes: 4096, free_bytes: 1024 };
const NODE = {
  id: 4,
  cluster_id: 1,
  name: "node-1",
  role: "storage",
  slots: 2,
  state: "online",
  last_seen_at: "2026-11-21T10:00:00Z",
  agent_version: "1.0",
  wire_version: 1,
  agent_standing: "behind",
  clock: { offset_seconds: -2.5, uncertainty_seconds: 0.0004, is_off: true },
  credentials_at: "2026-11-01T10:00:00Z",
  rotation_wanted_at: null,
  boot_id: null,
  facts: { "kernel.release": "6.1.0-30", "cpu.count": 64 },
  mounts: [{ ...MOUNT, approved: true, facts: {} }],
  approved_directories: ["/scratch"],
  workloads: [
    { name: "dd", revision: 1, tool_version: "9.1", available: true, unavailable_because: null },
    {
      name: "iozone",
      revision: 2,
      tool_version: null,
      available: false,
      unavailable_because: "it is absent",
    },
  ],
  active_orders: [{ order_id: 1, run_id: 7, state: "running", progress: 0.4, phase: "writing" }],
  stuck: [],
  problem: null,
  drain: null,
};
const EVENT = {
  id: 1,
  cluster_id: 1,
  kind: "environment",
  since: "2026-11-20T10:00:00Z",
  at: "2026-11-21T10:00:00Z",
  text: "kernel.release: 6.1.0-25 -> 6.1.0-30; disk.scheduler: none -> mq-deadline",
  node_ids: [4],
  target_ids: [],
  run_id: 12,
  told_by: null,
};

beforeEach(() => server.use(...USUAL_ANSWERS));

it("shows a node's leases, tools and targets, and only changed facts", async () => {
  const target = { id: 3, name: "scratch", mounts: [{ ...MOUNT, node_id: 4, problem: null }], drain: null };
  const asked: (string | null)[] = [];
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/targets", () => listOf([{ ...target, retired_at: null }])),
    http.get("*/api/v1/trend-events", ({ request }) => {
      asked.push(new URL(request.url).searchParams.get("node_id"));
      return listOf([EVENT]);
    }),
  );
  const { user } = openDashboard("/nodes/4");
  expect(await screen.findByRole("heading", { name: "Node node-1" })).toBeInTheDocument();
  expect(screen.getByRole("progressbar", { name: "Progress of run 7" })).toBeInTheDocument();
  expect(screen.getByText("2 runs at a time")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Workloads and tools" }));
  const tools = within(screen.getByRole("table", { name: "Workloads of node-1" }));
  expect(tools.getByText("it is absent")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Targets and mounts" }));
  const targets = within(await screen.findByRole("table", { name: "Targets on this node" }));
  expect(targets.getByRole("link", { name: "scratch" })).toHaveAttribute("href", "/targets/3");
  await user.click(screen.getByRole("button", { name: "Changes" }));
  const changed = within(await screen.findByRole("table", { name: "Changes" }));
  const [, kernel, scheduler] = changed.getAllByRole("row");
  expect(kernel).toHaveTextContent("kernel.release6.1.0-256.1.0-30Run 12");
  expect(scheduler).toHaveTextContent("disk.schedulernonemq-deadline");
  expect(asked).toEqual(["4"]);
  const menu = within(screen.getByRole("navigation", { name: "Main" }));
  expect(menu.getByRole("link", { name: "Overview" })).toHaveAttribute("aria-current", "true");
});

it("explains why an inaccessible node is not shown", async () => {
  const error = { code: "node_not_found", message: "there is no node 9" };
  server.use(http.get("*/api/v1/nodes/9", () => HttpResponse.json({ error }, { status: 404 })));
  openDashboard("/nodes/9");
  expect(await screen.findByRole("alert")).toHaveTextContent("there is no node 9");
  expect(screen.getByRole("heading", { name: "Node 9" })).toBeInTheDocument();
});

it("shows problems of agent and clock with remedies", async () => {
  server.use(http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)));
  openDashboard("/nodes/4");
  expect(await screen.findByText(/2.5 s behind the server, ± 400 us/)).toBeInTheDocument();
  expect(screen.getByText(/More than one second off/)).toBeInTheDocument();
  expect(screen.getByText("behind")).toBeInTheDocument();
  expect(screen.getByText(/Upgrade this agent/)).toBeInTheDocument();
});

it("shows the effect on runs before a node is revoked", async () => {
  const run = { run_id: 7, campaign_id: 1, campaign_name: "nightly", workload: "dd", ends: false };
  const revoked: string[] = [];
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/nodes/4/revocation", () =>
      HttpResponse.json({
        node_id: 4,
        node_name: "node-1",
        waiting_count: 2,
        runs: [{ ...run, words: "its order stays" }],
      }),
    ),
    http.post("*/api/v1/nodes/4/revoke", () => {
      revoked.push("node-1");
      return HttpResponse.json({ ...NODE, state: "revoked" });
    }),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Manage" }));
  await user.click(await screen.findByRole("menuitem", { name: /^Revoke/ }));
  const dialog = await screen.findByRole("dialog");
  expect(await within(dialog).findByText("its order stays")).toBeInTheDocument();
  expect(within(dialog).getByText("2 runs wait for this node and keep waiting.")).toBeInTheDocument();
  expect(revoked).toEqual([]);
  await user.click(within(dialog).getByRole("button", { name: "Revoke node" }));
  await expect.poll(() => revoked).toEqual(["node-1"]);
});

it.each([
  [3, "direct", /until its agent reports that the process has ended/],
  [2, "direct", /Its agent does not report when the process has ended/],
  [3, "slurm", /Its agent does not report when the process has ended/],
])(
  "says what ends the stuck state of an agent of wire version %i in a cluster of %s",
  async (wire_version, launcher, words) => {
    const load = { process: "dd (pid 25760)", since: "2026-11-21T10:00:00Z", run_id: 7, targets: ["nfs"] };
    server.use(
      http.get("*/api/v1/nodes/4", () => HttpResponse.json({ ...NODE, wire_version, stuck: [load] })),
      http.get("*/api/v1/clusters", () => listOf([{ id: 1, name: "hpc1", description: "", launcher }])),
    );
    openDashboard("/nodes/4");
    expect(await screen.findByText(words)).toBeInTheDocument();
  },
);

it("explains each action of the menu Manage", async () => {
  server.use(http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)));
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Manage" }));
  const items = await screen.findAllByRole("menuitem");
  expect(items.map((item) => item.querySelector("p")?.textContent)).toEqual([
    "Drain",
    "Rotate credentials",
    "Enrol again",
    "Revoke",
    "Retire",
  ]);
  for (const item of items) expect(item.textContent?.length).toBeGreaterThan(40);
});

it("shows a button in red only for what destroys", async () => {
  server.use(http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)));
  const { user } = openDashboard("/nodes/4");
  async function colourOf(item: RegExp, button: string): Promise<string> {
    await user.click(await screen.findByRole("button", { name: "Manage" }));
    await user.click(await screen.findByRole("menuitem", { name: item }));
    const dialog = within(await screen.findByRole("dialog"));
    const colour = dialog.getByRole("button", { name: button }).style.getPropertyValue("--button-bg");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
    return colour;
  }
  expect(await colourOf(/^Retire/, "Retire node")).toContain("red");
  expect(await colourOf(/^Rotate/, "Rotate credentials")).not.toContain("red");
});

it("creates no enrolment token before it is asked for", async () => {
  let created = 0;
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.post("*/api/v1/nodes/4/join-token", () => {
      created += 1;
      return HttpResponse.json({ command: "iotide-agent enrol", expires_at: "2026-11-22T10:00:00Z" });
    }),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Manage" }));
  await user.click(await screen.findByRole("menuitem", { name: /^Enrol again/ }));
  expect(created).toBe(0);
  await user.click(await screen.findByRole("button", { name: "Create enrol command" }));
  expect(await screen.findByText("iotide-agent enrol")).toBeInTheDocument();
  expect(created).toBe(1);
});

const SERIES = {
  id: 7,
  cluster_id: 1,
  node_names: ["node-1"],
  target_names: ["scratch"],
  variant: "",
  workload: "dd",
  options: {},
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: { operation: "read" },
  superseded: null,
  point_count: 60,
  last_value: 1e9,
  last_at: new Date().toISOString(),
};
const DROP = {
  id: 1,
  series_id: 7,
  at: "2026-09-07T10:00:00Z",
  shift_ratio: -0.12,
  direction: "worse",
  confirmed_at: "2026-09-09T10:00:00Z",
  ended_at: null,
  is_over: false,
};

it("opens with what is slower, since when, the state and the newest run", async () => {
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/series", () => listOf([SERIES])),
    http.get("*/api/v1/points", () =>
      HttpResponse.json([{ series: SERIES, at: [], median: [], gaps: [], low: [], high: [], n: [] }]),
    ),
    http.get("*/api/v1/series/7/analysis", () =>
      HttpResponse.json({ series_id: 7, course: "changed", changes: [DROP], drift: null }),
    ),
  );
  openDashboard("/nodes/4");
  const slower = await screen.findByRole("link", { name: "dd read −12.0 % since 7 Sep 2026" });
  expect(slower).toHaveAttribute("href", expect.stringContaining("/clusters/1/trend"));
  expect(screen.getByText("online")).toBeVisible();
  expect(screen.getByText("no run yet")).toBeVisible();
  expect(screen.getByRole("region", { name: "Trend by workload, last 90 days" })).toBeInTheDocument();
});

it("says how the node differs from its peers, with the way to their plot", async () => {
  const item = { kind: "outlier_node", cluster_id: 1, node_id: 4, workload: "dd", series: null };
  const words = "node-1: dd write throughput 16.4 % below the median of 4 nodes";
  const attention = [
    { ...item, words },
    { ...item, node_id: 5, words: "node-2: dd 9 % below" },
  ];
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/board", () => HttpResponse.json({ ...NO_BOARD, attention })),
  );
  openDashboard("/nodes/4");
  const note = await screen.findByRole("link", {
    name: "dd write throughput 16.4 % below the median of 4 nodes",
  });
  expect(note).toHaveAttribute("href", "/peers?cluster=1&workload=dd");
  expect(screen.queryByText(/9 % below/)).not.toBeInTheDocument();
});
