import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const NODE = {
  id: 4,
  cluster_id: 1,
  name: "node-1",
  role: "compute",
  slots: 1,
  state: "silent",
  last_seen_at: "2026-11-21T10:00:00Z",
  agent_version: "1",
  wire_version: 2,
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
const DRAIN = {
  kind: "all",
  subject_id: 0,
  cluster_id: null,
  reason: "the cooling fails",
  by: "ada",
  since: "2026-11-21T10:00:00Z",
  until: null,
};
const RUN = { run_id: 7, campaign_id: 1, campaign_name: "nightly", workload: "dd", becomes: "waiting" };
const STATEMENT = {
  node_id: 4,
  node_name: "node-1",
  last_seen_at: "2026-11-21T10:00:00Z",
  runs: [{ ...RUN, orders: [], ends: "order 12 ends as lost", risk: "Its load may run there." }],
  waiting_count: 2,
  statement_sha256: "a".repeat(64),
};

beforeEach(() => server.use(...USUAL_ANSWERS));

it("shows what marking a silent node dead releases, and sends the digest of that statement", async () => {
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/nodes/4/dead", () => HttpResponse.json(STATEMENT)),
    http.post("*/api/v1/nodes/4/dead", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(NODE);
    }),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Declare dead" }));
  expect(await screen.findByText("order 12 ends as lost.")).toBeInTheDocument();
  expect(screen.getByText("Its load may run there.")).toBeInTheDocument();
  expect(screen.getByText(/2 runs wait for this node/)).toBeInTheDocument();
  expect(sent).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Declare node-1 dead" }));
  await waitFor(() => expect(screen.queryByText("order 12 ends as lost.")).not.toBeInTheDocument());
  expect(sent).toEqual([{ statement_sha256: "a".repeat(64) }]);
});

it("shows the new statement if the confirmed one is outdated", async () => {
  let stated = STATEMENT;
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json(NODE)),
    http.get("*/api/v1/nodes/4/dead", () => HttpResponse.json(stated)),
    http.post("*/api/v1/nodes/4/dead", () => {
      stated = { ...STATEMENT, runs: [] };
      const error = { code: "death_differs", message: "it is no longer so", remedy: "look again" };
      return HttpResponse.json({ error }, { status: 409 });
    }),
  );
  const { user } = openDashboard("/nodes/4");
  await user.click(await screen.findByRole("button", { name: "Declare dead" }));
  await user.click(await screen.findByRole("button", { name: "Declare node-1 dead" }));
  expect(await screen.findByText("it is no longer so")).toBeInTheDocument();
  expect(await screen.findByText(/The node has no run/)).toBeInTheDocument();
});

it("releases what a stuck node holds after an operator confirms the consequences", async () => {
  const load = {
    process: "dd (pid 41) in state D",
    since: "2026-11-21T10:00:00Z",
    run_id: 7,
    targets: ["nfs"],
  };
  const held = {
    run_id: 7,
    campaign_id: 1,
    campaign_name: "nightly",
    workload: "dd",
    process: load.process,
    since: load.since,
    frees: "target nfs and node node-1 are free at once",
    risk: "dd may go on writing.",
  };
  const stated = {
    node_id: 4,
    node_name: "node-1",
    runs: [held],
    afterwards: "node-1 itself is offered nothing.",
    statement_sha256: "b".repeat(64),
  };
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/nodes/4", () => HttpResponse.json({ ...NODE, state: "stuck", stuck: [load] })),
    http.get("*/api/v1/nodes/4/stuck", () => HttpResponse.json(stated)),
    http.post("*/api/v1/nodes/4/stuck", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...NODE, state: "stuck", stuck: [load] });
    }),
  );
  const { user } = openDashboard("/nodes/4");
  expect(await screen.findByText(/dd \(pid 41\) in state D cannot be killed, found/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Free node" }));
  expect(await screen.findByText("target nfs and node node-1 are free at once.")).toBeInTheDocument();
  expect(screen.getByText("dd may go on writing.")).toBeInTheDocument();
  expect(sent).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Free node-1" }));
  await waitFor(() => expect(screen.queryByText("dd may go on writing.")).not.toBeInTheDocument());
  expect(sent).toEqual([{ statement_sha256: "b".repeat(64) }]);
});

it("hides the action for a node that sends heartbeats", async () => {
  server.use(http.get("*/api/v1/nodes/4", () => HttpResponse.json({ ...NODE, state: "online" })));
  openDashboard("/nodes/4");
  expect(await screen.findByRole("button", { name: "Manage" })).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Declare dead" })).not.toBeInTheDocument();
});

it("shows on the overview that everything is drained and why", async () => {
  server.use(http.get("*/api/v1/drains", () => HttpResponse.json([{ ...DRAIN, name: "everything" }])));
  openDashboard("/");
  expect(await screen.findByText("No new runs start in any cluster")).toBeInTheDocument();
  expect(screen.getByText(/the cooling fails/)).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Resume everything" })).toBeInTheDocument();
});

it("changes the priority of a campaign with waiting runs", async () => {
  const counts = { waiting: 3, active: 0, finished: 0, failed: 0, cancelled: 0 };
  const campaign = {
    id: 9,
    name: "nightly",
    cluster_id: 1,
    cluster_name: "hpc1",
    owner: "grace",
    plan: { note: "", workloads: [], priority: 2 },
    state: "waiting",
    created_at: "2026-11-21T10:00:00Z",
    counts,
    preparations: [],
    stages: [],
    progress: 0,
    seconds_remaining_estimated: null,
  };
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/campaigns/9", () => HttpResponse.json(campaign)),
    http.get("*/api/v1/campaigns/9/measures", () => HttpResponse.json({ metrics: [], counters: [] })),
    http.get("*/api/v1/campaigns/9/cells", () => listOf([])),
    http.patch("*/api/v1/campaigns/9", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(campaign);
    }),
  );
  const { user } = openDashboard("/campaigns/9");
  const priority = await screen.findByRole("combobox", { name: "Priority" });
  expect(priority).toHaveValue("2");
  await user.selectOptions(priority, "7");
  await waitFor(() => expect(sent).toEqual([{ priority: 7 }]));
});

it("shows the queue order with reason, priority and owner of each run", async () => {
  const run = {
    run_id: 7,
    campaign_id: 1,
    campaign_name: "nightly",
    owner: "grace",
    priority: 5,
    repeat: 1,
    workload: "dd",
    node_names: ["node-1"],
    target_names: ["scratch"],
    created_at: "2026-11-21T10:00:00Z",
    waiting_because: "node node-1 is drained by ada until it is resumed: its disk is replaced",
  };
  const runs = [run, { ...run, run_id: 8, waiting_because: "1 run stands before it" }];
  server.use(http.get("*/api/v1/clusters/1/queue", () => HttpResponse.json({ waiting: 12, runs })));
  openDashboard("/queues/1");
  const table = within(await screen.findByRole("table", { name: "Queue" }));
  const [, first, second] = table.getAllByRole("row");
  expect(first).toHaveTextContent(/^17dd, repeat 1nightlygrace5node-1on scratchnode node-1 is drained/);
  expect(second).toHaveTextContent("1 run stands before it");
  expect(screen.getByText("10 more runs are waiting.")).toBeInTheDocument();
  expect(screen.getByRole("heading", { name: "Queue of hpc1" })).toBeInTheDocument();
});
