import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

function node(orders: object[] = []) {
  return {
    id: 4,
    name: "node-1",
    role: "compute",
    state: "online",
    last_seen_at: null,
    agent_version: "1.0",
    agent_standing: "current",
    clock_is_off: false,
    facts: {},
    problem: null,
    drain: null,
    active_orders: orders,
    stuck: [],
  };
}

beforeEach(() => server.use(...USUAL_ANSWERS));

it("lists each process of a stuck node once", async () => {
  const load = { since: "2026-11-21T10:00:00Z", run_id: null, targets: [] };
  const stuck = [41, 42].map((pid) => ({ ...load, process: `dd (pid ${pid}) in state D` }));
  server.use(http.get("*/api/v1/clusters/1/nodes", () => listOf([{ ...node(), state: "stuck", stuck }])));
  openDashboard("/clusters/1");
  const row = await screen.findByRole("row", { name: /node-1/ });
  expect(row.textContent?.match(/cannot be killed/g)).toHaveLength(2);
  expect(row).not.toHaveTextContent("idle");
});

it("keeps the join command after the first node has joined", async () => {
  const token = { command: "echo secret | iotide-agent enroll", expires_at: "2026-11-21T10:00:00Z" };
  server.use(http.post("*/api/v1/clusters/1/join-tokens", () => HttpResponse.json(token, { status: 201 })));
  const { client, user } = openDashboard("/clusters/1");
  await user.click(await screen.findByRole("button", { name: "Create join token" }));
  expect(await screen.findByText(token.command)).toBeInTheDocument();
  server.use(http.get("*/api/v1/clusters/1/nodes", () => listOf([node()])));
  await client.invalidateQueries({ queryKey: ["node"] });
  expect(await screen.findByRole("link", { name: "node-1" })).toBeInTheDocument();
  expect(screen.getByText(token.command)).toBeInTheDocument();
});

it("shows one command that installs the agent, with the directories that the admin names", async () => {
  const token = { command: "enroll", install_command: "sh join.sh URL", expires_at: "2026-11-21T10:00:00Z" };
  server.use(http.post("*/api/v1/clusters/1/join-tokens", () => HttpResponse.json(token, { status: 201 })));
  const { user } = openDashboard("/clusters/1");
  await user.click(await screen.findByRole("button", { name: "Create join token" }));
  expect(await screen.findByText("sh join.sh URL /scratch/iotide")).toBeInTheDocument();
  const directories = screen.getByRole("textbox", { name: "Directories for runs" });
  await user.clear(directories);
  await user.type(directories, "/mnt/lustre/bench /nvme");
  expect(screen.getByText("sh join.sh URL /mnt/lustre/bench /nvme")).toBeInTheDocument();
});

it("lists join tokens with their creators, and revokes one after confirmation", async () => {
  const token = {
    id: 12,
    cluster_id: 1,
    node_id: null,
    uses_left: 3,
    needs_approval: true,
    created_at: "2026-11-21T10:00:00Z",
    expires_at: "2026-11-21T11:00:00Z",
    made_by: "grace",
  };
  let tokens: object[] = [
    token,
    { ...token, id: 11, node_id: 4, uses_left: 1, needs_approval: false, made_by: null },
  ];
  const revoked: unknown[] = [];
  server.use(
    http.get("*/api/v1/clusters/1/nodes", () => listOf([node()])),
    http.get("*/api/v1/clusters/1/join-tokens", () => listOf(tokens)),
    http.delete("*/api/v1/join-tokens/:id", ({ params }) => {
      revoked.push(params.id);
      tokens = tokens.slice(1);
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  const table = within(await screen.findByRole("table", { name: "Join tokens" }));
  expect(table.getByRole("row", { name: /12 grace .* new nodes, after approval 3/ })).toBeInTheDocument();
  expect(await table.findByRole("row", { name: /11 a deleted user .* node-1 again 1/ })).toBeInTheDocument();
  await user.click(table.getByRole("button", { name: "Revoke join token 12" }));
  expect(revoked).toEqual([]);
  const question = within(await screen.findByRole("dialog"));
  expect(question.getByText(/could enrol 3 more hosts/)).toBeInTheDocument();
  await user.click(question.getByRole("button", { name: "Revoke" }));
  await waitFor(() => expect(table.queryByRole("row", { name: /12 grace/ })).toBeNull());
  expect(revoked).toEqual(["12"]);
});

it("shows why the second of several targets was rejected, and keeps the form open", async () => {
  const place = { node_id: 4, node_name: "node-1", source: "/dev/vdb", total_bytes: 2, free_bytes: 1 };
  const candidate = { scope: "node", fstype: "xfs", identity: null, joins: null };
  const targets: object[] = [];
  server.use(
    http.get("*/api/v1/clusters/1/nodes", () => listOf([node()])),
    http.get("*/api/v1/clusters/1/candidates", () =>
      HttpResponse.json(
        ["a", "b"]
          .slice(targets.length)
          .map((name) => ({ ...candidate, suggested_name: name, places: [{ ...place, path: `/${name}` }] })),
      ),
    ),
    http.get("*/api/v1/targets", () => listOf(targets)),
    http.post("*/api/v1/targets", async ({ request }) => {
      const { name } = (await request.json()) as { name: string };
      if (name === "b")
        return HttpResponse.json({ error: { code: "conflict", message: "b is taken" } }, { status: 409 });
      const mounts = [{ node_id: 4, node_name: "node-1", path: "/a", fstype: "xfs", free_bytes: 1 }];
      targets.push({
        id: 1,
        cluster_id: 1,
        name,
        path: "/a",
        scope: "node",
        mounts,
        stuck: [],
        backed_by: [],
        retired_at: null,
      });
      return HttpResponse.json(targets[0], { status: 201 });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  const mounts = within(await screen.findByRole("table", { name: "Discovered mounts" }));
  await user.click(mounts.getByRole("checkbox", { name: "/a" }));
  await user.click(mounts.getByRole("checkbox", { name: "/b" }));
  await user.click(screen.getByRole("button", { name: "Create 2 targets" }));
  expect(await screen.findByText("b is taken")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Create target" })).toBeEnabled();
  expect(screen.getByRole("checkbox", { name: "/b" })).toBeChecked();
});

it("draws unknown progress as an empty track without a number", async () => {
  const order = { order_id: 1, run_id: 7, state: "running", phase: "writing" };
  const orders = [
    { ...order, progress: null },
    { ...order, order_id: 2, run_id: 8, progress: 0.4 },
  ];
  server.use(http.get("*/api/v1/clusters/1/nodes", () => listOf([node(orders)])));
  openDashboard("/clusters/1");
  const unknown = await screen.findByRole("progressbar", { name: "Progress of run 7" });
  expect(unknown).not.toHaveAttribute("aria-valuenow");
  expect(unknown).toBeEmptyDOMElement();
  expect(unknown).toHaveAttribute("aria-valuetext", "writing");
  expect(screen.getByRole("progressbar", { name: "Progress of run 8" })).toHaveAttribute(
    "aria-valuenow",
    "40",
  );
});

it("shows, adds and removes maintenance windows of a cluster", async () => {
  const blackouts: { id: number }[] = [];
  server.use(
    http.get("*/api/v1/clusters/1/blackouts", () => listOf(blackouts)),
    http.post("*/api/v1/clusters/1/blackouts", async ({ request }) => {
      blackouts.push({ id: 3, ...((await request.json()) as object) });
      return HttpResponse.json(blackouts[0], { status: 201 });
    }),
    http.delete("*/api/v1/blackouts/3", () => {
      blackouts.pop();
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  expect(await screen.findByText("No maintenance is planned.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Add maintenance window" }));
  await user.type(await screen.findByLabelText(/^Start/), "2026-12-01T08:00");
  await user.type(screen.getByLabelText(/^End/), "2026-12-01T18:00");
  await user.type(screen.getByRole("textbox", { name: /^Reason/ }), "new firmware");
  await user.click(screen.getByRole("button", { name: "Save maintenance window" }));
  const table = within(await screen.findByRole("table", { name: "Maintenance windows" }));
  expect(table.getByText("new firmware")).toBeInTheDocument();
  expect(blackouts).toMatchObject([{ starts_at: new Date("2026-12-01T08:00").toISOString() }]);
  await user.click(table.getByRole("button", { name: "Remove maintenance window new firmware" }));
  await user.click(await screen.findByRole("button", { name: "Remove window" }));
  expect(await screen.findByText("No maintenance is planned.")).toBeInTheDocument();
});

it("approves selected pending nodes after showing their fingerprints", async () => {
  const pending = ["n1", "n2"].map((name, index) => ({
    id: index + 8,
    name,
    role: "compute",
    address: "10.0.0.7",
    fingerprint: `0000 0000 0000 000${index}`,
    agent_version: "1.0",
    agent_standing: "current",
    facts: { "cpu.count": 8 },
    asked_at: "2026-11-21T10:00:00Z",
    expires_at: "2026-11-28T10:00:00Z",
  }));
  const approved: unknown[] = [];
  server.use(
    http.get("*/api/v1/clusters/1/pending-nodes", () => listOf(approved.length === 0 ? pending : [])),
    http.post("*/api/v1/clusters/1/pending-nodes/approve", async ({ request }) => {
      approved.push(await request.json());
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  expect(await screen.findByText("0000 0000 0000 0001")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Approve" })).toBeDisabled();
  await user.click(screen.getByRole("checkbox", { name: "Select n2" }));
  await user.click(screen.getByRole("button", { name: "Approve 1" }));
  await screen.findByText(/No nodes yet/);
  await expect.poll(() => approved).toEqual([{ pending_ids: [9] }]);
  await expect.poll(() => screen.queryByText("Pending nodes")).toBeNull();
});
