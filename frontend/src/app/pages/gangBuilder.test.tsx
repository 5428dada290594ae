import forms from "@testing/forms.json";
import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const IOR = {
  ...{ id: 1, cluster_id: null, name: "ior", title: "ior: parallel reads and writes", description: "" },
  ...{ options_schema: forms.ior, option_defaults: { tasks: 4 }, step_roles: [], nodes: [], metrics: [] },
  own_programs: { kind: "number", value: 0 },
};
const NODES = ["node01", "node02", "node03", "node04"].map((name, place) => ({
  ...{ id: place + 1, name, role: "compute", state: "online", workloads: [], active_orders: [], stuck: [] },
  facts: { "cpu.count": 4, "mpi.kind": "mpich", ...(place < 3 && { "data.address": `10.1.0.${place + 1}` }) },
}));
const DISK = { id: 3, name: "scratch", path: "/scratch", kind: "shared", mounts: [] };

beforeEach(() => {
  sessionStorage.clear();
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/nodes", () => listOf(NODES)),
    http.get("*/api/v1/targets", () => listOf([DISK])),
    http.get("*/api/v1/workloads", () => listOf([IOR])),
    http.post("*/api/v1/campaigns/preview", () => HttpResponse.json({}, { status: 503 })),
  );
});

const PLAN = {
  ...{ name: "scaling", nodes: NODES.map(({ name }) => name), nodes_at_once: false, targets: ["scratch"] },
  ...{
    targets_at_once: false,
    workloads: [{ workload: "ior" }],
    repeats: 4,
    exclusive: "node",
    cache: "drop",
  },
  ...{ cool_down_seconds: 0, quiet: "flag", quiet_wait_seconds: 60, time_limit_seconds: 3600 },
  ...{ attempts_allowed: 2, priority: 0, note: "" },
};

function openPlan(plan: object) {
  const campaign = { id: 7, cluster_id: 1, plan: { ...PLAN, ...plan } };
  server.use(http.get("*/api/v1/campaigns/7", () => HttpResponse.json(campaign)));
  return openDashboard("/campaigns/new?from=7");
}

it("says what runs as one program, and offers numbers of nodes and tasks by one click each", async () => {
  const plans: object[] = [];
  server.use(
    http.post("*/api/v1/campaigns/preview", async ({ request }) => {
      plans.push((await request.json()) as object);
      return HttpResponse.json({}, { status: 503 });
    }),
  );
  const { user } = openPlan({});
  await screen.findByText("Each node runs a program of its own, one node at a time.");
  const scale = screen.getByRole("group", { name: /^Scale ior/ });
  await user.click(within(scale).getByRole("button", { name: "All 4 nodes" }));
  expect(screen.getByText("One program over 4 nodes × 4 tasks, started by node01.")).toBeVisible();
  expect(screen.getByText(/^Set data_address in agent.toml of node04/)).toBeVisible();

  await user.click(within(scale).getByRole("button", { name: "1, 2, 4 nodes" }));
  await user.click(within(scale).getByRole("button", { name: "1, 2, 4 tasks per node" }));
  expect(screen.getByText(/^One program over 2, 4 nodes × 1, 2, 4 tasks, started by node01\./)).toBeVisible();
  const sweep = { tasks: [1, 2, 4] };
  await waitFor(() =>
    expect(plans.at(-1)).toMatchObject({ nodes_at_once: [1, 2, 4], workloads: [{ sweep }] }),
  );
});

it("asks for a second node where a workload can run as one program", async () => {
  openPlan({ nodes: ["node01"] });
  expect(await screen.findByText(/Choose at least two nodes for that/)).toBeVisible();
});

it("shows nothing for a workload whose nodes each start a program", async () => {
  const own = { ...IOR, own_programs: { kind: "number", value: 1 } };
  server.use(http.get("*/api/v1/workloads", () => listOf([own])));
  openPlan({});
  expect(await screen.findByRole("button", { name: "Remove ior" })).toBeVisible();
  expect(screen.queryByRole("group", { name: /^Scale ior/ })).not.toBeInTheDocument();
  expect(screen.queryByText(/a program of its own/)).not.toBeInTheDocument();
});
