import forms from "@testing/forms.json";
import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import type userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const CLUSTERS = [
  { id: 1, name: "hpc1", description: "" },
  { id: 2, name: "hpc2", description: "" },
];

beforeEach(() => {
  sessionStorage.clear();
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/clusters", () => listOf(CLUSTERS)),
    http.get("*/api/v1/nodes", ({ request }) => {
      const id = Number(new URL(request.url).searchParams.get("cluster_id"));
      const shown = { role: "compute", state: "online", workloads: [], active_orders: [], stuck: [] };
      return listOf([`node-${id}`, "spare"].map((name) => ({ id, name, ...shown })));
    }),
  );
});

async function enter(user: ReturnType<typeof userEvent.setup>): Promise<void> {
  await user.type(await screen.findByRole("textbox", { name: "Campaign name" }), "nightly");
  await user.click(screen.getByRole("checkbox", { name: "node-1" }));
}

it("keeps the draft if a refetch of nodes or workloads fails", async () => {
  const { client, user } = openDashboard("/campaigns/new?cluster=1");
  await enter(user);
  server.use(http.get("*/api/v1/nodes", () => HttpResponse.json({}, { status: 500 })));
  await client.invalidateQueries({ queryKey: ["node"] });
  expect(await screen.findByText(/Refresh failed/)).toBeInTheDocument();
  expect(screen.getByRole("textbox", { name: "Campaign name" })).toHaveValue("nightly");
  expect(screen.getByRole("checkbox", { name: "node-1" })).toBeChecked();
});

it("restores the draft after navigation and a reload, until it is discarded", async () => {
  const first = openDashboard("/campaigns/new?cluster=1");
  await enter(first.user);
  await first.router.navigate({ to: "/campaigns" });
  await screen.findByText("No campaigns yet.", { exact: false });
  first.unmount();
  const { user } = openDashboard("/campaigns/new");
  expect(await screen.findByRole("textbox", { name: "Campaign name" })).toHaveValue("nightly");
  await user.click(screen.getByRole("button", { name: "Discard draft" }));
  await user.click(await screen.findByRole("button", { name: "Discard" }));
  expect(screen.getByRole("textbox", { name: "Campaign name" })).toHaveValue("");
  expect(screen.queryByRole("button", { name: "Discard draft" })).not.toBeInTheDocument();
});

const PAIRS = {
  name: "pairs",
  nodes: ["node-1"],
  targets: [],
  stages: [{ variant: "xfs" }],
  targets_at_once: false,
  workloads: [{ workload: "dd", nodes: ["node-1"], targets: ["disk"], variants: ["xfs"] }],
  repeats: 4,
  exclusive: "node",
  cache: "drop",
  cool_down_seconds: 0,
  quiet: "flag",
  quiet_wait_seconds: 60,
  time_limit_seconds: 3600,
  attempts_allowed: 2,
  priority: 0,
  note: "",
};

it("starts from a template's link, renames templates and deletes them after confirmation", async () => {
  const template = { id: 3, cluster_id: 1, name: "weekly", owner: "ada", plan: PAIRS };
  const kept = { ...template, changed_at: "2026-11-21T10:00:00Z" };
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/templates", () => listOf([kept])),
    http.get("*/api/v1/templates/3", () => HttpResponse.json(kept)),
    http.patch("*/api/v1/templates/3", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(kept);
    }),
    http.delete("*/api/v1/templates/3", () => {
      sent.push("deleted");
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.click(await screen.findByText("1 template"));
  await user.click(screen.getByRole("link", { name: "weekly" }));
  await waitFor(() => expect(screen.getByRole("textbox", { name: "Campaign name" })).toHaveValue("pairs"));
  await user.click(screen.getByText("1 stage, template weekly"));
  await user.click(screen.getByRole("button", { name: "Rename or delete" }));
  const name = screen.getByRole("textbox", { name: "Name of template weekly" });
  await user.clear(name);
  await user.type(name, "monthly");
  await user.click(screen.getByRole("button", { name: "Rename" }));
  await user.click(screen.getByRole("button", { name: "Delete template weekly" }));
  await user.click(await screen.findByRole("button", { name: "Delete template" }));
  await waitFor(() => expect(sent).toEqual([{ name: "monthly" }, "deleted"]));
});

it("keeps a workload's own nodes and stages from an earlier plan across a reload, until they are dropped", async () => {
  const campaign = { id: 7, cluster_id: 1, plan: PAIRS };
  server.use(http.get("*/api/v1/campaigns/7", () => HttpResponse.json(campaign)));
  const first = openDashboard("/campaigns/new?from=7");
  const words = "For this workload: nodes node-1; targets none; stages xfs";
  expect(await screen.findByText(words)).toBeInTheDocument();
  await first.user.type(screen.getByRole("textbox", { name: "Campaign name" }), "2");
  first.unmount();
  const { user } = openDashboard("/campaigns/new?from=7");
  expect(await screen.findByText(words)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Use campaign settings" }));
  expect(screen.queryByText(words)).not.toBeInTheDocument();
});

it("asks before a change of cluster deselects nodes, and keeps the rest", async () => {
  const { router, user } = openDashboard("/campaigns/new?cluster=1");
  await enter(user);
  await user.selectOptions(screen.getByRole("combobox", { name: "Cluster" }), "hpc2");
  await user.click(await screen.findByRole("button", { name: "Keep hpc1" }));
  expect(screen.getByRole("checkbox", { name: "node-1" })).toBeChecked();
  await user.selectOptions(screen.getByRole("combobox", { name: "Cluster" }), "hpc2");
  await user.click(await screen.findByRole("button", { name: "Switch to hpc2" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ cluster: 2 }));
  expect(await screen.findByRole("checkbox", { name: "node-2" })).not.toBeChecked();
  expect(screen.getByRole("textbox", { name: "Campaign name" })).toHaveValue("nightly");
});

it("asks for the maximum and the wanted width of adaptive repeats", async () => {
  const { user } = openDashboard("/campaigns/new?cluster=1&step=review");
  await user.click(await screen.findByRole("combobox", { name: "Repeat mode" }));
  await user.click(await screen.findByRole("option", { name: "Until the interval is narrow" }));
  expect(screen.getByRole("textbox", { name: "Maximum repeats" })).toHaveValue("40");
  expect(screen.getByRole("textbox", { name: "Wanted width (±)" })).toHaveValue("3 %");
  expect(screen.getByRole("textbox", { name: "Time budget" })).toHaveValue("");
});

it("allows an empty number while typing, and disables submission meanwhile", async () => {
  const { user } = openDashboard("/campaigns/new?cluster=1&step=review");
  const repeats = await screen.findByRole("textbox", { name: "Repeats" });
  await user.type(repeats, "{Backspace}");
  expect(screen.getByText("Enter the number of repeats.")).toBeInTheDocument();
  await user.type(repeats, "8");
  expect(repeats).toHaveValue("8");
});

it("keeps what was entered across the steps, which the address names", async () => {
  const words = { words: "At 22:00 every day", firings: [] };
  server.use(http.post("*/api/v1/schedules/preview", () => HttpResponse.json(words)));
  const { router, user } = openDashboard("/campaigns/new?cluster=1");
  await enter(user);
  await user.click(screen.getByRole("link", { name: "3 When" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ cluster: 1, step: "when" }));
  await user.click(screen.getByRole("radio", { name: "Every night between" }));
  await user.click(screen.getByRole("link", { name: "2 Review" }));
  expect(await screen.findByRole("heading", { name: "Preview" })).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "2 Review" })).toHaveAttribute("aria-current", "page");
  expect(screen.getByRole("link", { name: "1 Where and what" })).not.toHaveAttribute("aria-current");
  await user.click(screen.getByRole("link", { name: "Back" }));
  expect(await screen.findByRole("textbox", { name: "Campaign name" })).toHaveValue("nightly");
  expect(screen.getByRole("checkbox", { name: "node-1" })).toBeChecked();
  router.history.back();
  router.history.back();
  expect(await screen.findByRole("radio", { name: "Every night between" })).toBeChecked();
  expect(screen.getByLabelText("Night begins")).toHaveValue("22:00");
});

it("starts in the cluster that the user used last, and never in sample data", async () => {
  const sample = { id: 9, name: "demo-hpc", description: "", origin: "made_up" };
  const used = [
    { id: 3, cluster_id: 9, owner: "grace" },
    { id: 2, cluster_id: 2, owner: "grace" },
  ];
  server.use(
    http.get("*/api/v1/clusters", () => listOf([sample, ...CLUSTERS])),
    http.get("*/api/v1/campaigns", () => listOf(used)),
  );
  openDashboard("/campaigns/new");
  expect(await screen.findByRole("combobox", { name: "Cluster" })).toHaveDisplayValue("hpc2");
  expect(screen.queryByRole("option", { name: /demo-hpc/ })).not.toBeInTheDocument();
});

it("fills in a ready-made campaign, offered only for announced workloads and on an empty builder", async () => {
  const dd = { id: 1, name: "dd", title: "dd", description: "", options_schema: forms.dd, step_roles: [] };
  server.use(http.get("*/api/v1/workloads", () => listOf([dd])));
  const { user } = openDashboard("/campaigns/new?cluster=1");
  await user.click(await screen.findByRole("checkbox", { name: "node-1" }));
  expect(screen.getByRole("button", { name: /^Full IOzone surface/ })).toBeDisabled();
  await user.click(screen.getByRole("button", { name: /^Quick check/ }));
  expect(screen.getByRole("textbox", { name: "Campaign name" })).toHaveValue("quick-check");
  expect(screen.getByRole("combobox", { name: "File size" })).toHaveValue("4 GiB");
  expect(screen.getByRole("checkbox", { name: "node-1" })).toBeChecked();
  expect(screen.getByText("time limit 30 min, a note")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /^Quick check/ })).not.toBeInTheDocument();
});

/** Campaign 7, whose plan is complete. */
function offerNightly(): void {
  const workloads = [{ workload: "dd", options: { file_size_bytes: "4 GiB" } }];
  const plan = { ...PAIRS, name: "nightly", targets: ["disk"], stages: [], workloads };
  const dd = { id: 1, name: "dd", title: "dd", description: "", options_schema: forms.dd, step_roles: [] };
  server.use(
    http.get("*/api/v1/campaigns/7", () => HttpResponse.json({ id: 7, cluster_id: 1, plan })),
    http.post("*/api/v1/campaigns/preview", () => HttpResponse.json({}, { status: 503 })),
    http.get("*/api/v1/targets", () => listOf([{ id: 1, name: "disk", scope: "node" }])),
    http.get("*/api/v1/workloads", () => listOf([dd])),
  );
}

it("names a schedule freely like its campaign, and shows at the field that another one has taken the name", async () => {
  const names = ["nightly"];
  const sent: unknown[] = [];
  const refusal = {
    code: "schedule_name_taken",
    field: "name",
    message: "the cluster already has a schedule nightly-2",
  };
  server.use(
    http.post("*/api/v1/schedules/preview", () =>
      HttpResponse.json({ words: "At 22:00 every day", firings: [] }),
    ),
    http.get("*/api/v1/schedules", () => listOf(names.map((name, id) => ({ id, name, cluster_id: 1 })))),
    http.post("*/api/v1/schedules", async ({ request }) => {
      const { name } = (await request.json()) as { name: string };
      sent.push(name);
      if (name !== "nightly-2") return HttpResponse.json({ id: 9 }, { status: 201 });
      names.push(name);
      return HttpResponse.json({ error: refusal }, { status: 409 });
    }),
  );
  offerNightly();
  const { router, user } = openDashboard("/campaigns/new?from=7&step=when");
  await user.click(await screen.findByRole("radio", { name: "Every night between" }));
  const field = screen.getByRole("textbox", { name: "Schedule name" });
  await waitFor(() => expect(field).toHaveValue("nightly-2"));
  await user.click(screen.getByRole("button", { name: "Create schedule" }));
  expect(await screen.findByText(refusal.message)).toBeInTheDocument();
  await waitFor(() => expect(field).toHaveValue("nightly-3"));
  await user.clear(field);
  expect(screen.queryByText(refusal.message)).not.toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Create schedule" })).toBeDisabled();
  await user.type(field, "weekdays");
  await user.click(screen.getByRole("button", { name: "Create schedule" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/schedules"));
  expect(sent).toEqual(["nightly-2", "weekdays"]);
});
