import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const SERIES = {
  id: 3,
  workload: "dd",
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: {},
  node_names: ["node-1"],
  target_names: ["disk"],
  muted_until: null,
};
const CHANGE = {
  id: 1,
  cell_id: 103,
  at: "2026-11-21T10:00:00Z",
  previous_at: "2026-11-20T10:00:00Z",
  median_before: 100e6,
  reasons: [],
  median_after: 80e6,
  shift_ratio: -0.2,
  direction: "worse",
  p_value: 0.0000002,
};
const ALERT = {
  id: 5,
  cluster_id: 1,
  cluster_name: "hpc1",
  kind: "change",
  state: "untriaged",
  series: SERIES,
  direction: "worse",
  words: "20.0 % lower, worse (9 points after, 30 before)",
  at: CHANGE.at,
  change: CHANGE,
  rule: { id: 2, name: "nightly-slower" },
  group: { id: 8, is_environment: true, told_at: null },
  raised_at: "2026-11-22T10:00:00Z",
  owner: null,
  due_at: null,
  event: null,
  closed_because: null,
  baseline_at: null,
  confirmation_id: null,
  moves: ["acknowledge", "expect", "comment"],
};
const RAISED = { id: 1, at: ALERT.raised_at, who: null, action: "confirmed", comment: "" };
const ACTIONS = [{ ...RAISED, before: { state: "suspect" }, after: { state: "untriaged" } }];
const POINTS = {
  ...{
    at: [],
    median: [],
    low: [],
    high: [],
    n: [],
    cell_id: [],
    campaign_id: [],
    flags: [],
    usual_flags: [],
  },
  ...{ variation_ratio: [], robust_spread_ratio: [], gaps: [], failures: [], left_out: 0 },
};

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/alerts/5", () => HttpResponse.json({ alert: ALERT, actions: ACTIONS, group: [] })),
    http.get("*/api/v1/series/3/points", () => HttpResponse.json({ series: SERIES, ...POINTS })),
    http.get("*/api/v1/series/3/analysis", () => HttpResponse.json({ series_id: 3, changes: [] })),
    http.get("*/api/v1/trend-events", () =>
      listOf([{ id: 7, cluster_id: 1, at: CHANGE.at, text: "new kernel", told_by: null }]),
    ),
  );
});

it("sends the fields of an action and offers no other actions", async () => {
  const bodies: unknown[] = [];
  server.use(
    http.post("*/api/v1/alerts/5/actions", async ({ request }) => {
      bodies.push(await request.json());
      return HttpResponse.json({});
    }),
  );
  const { user } = openDashboard("/alerts/5");
  await screen.findByRole("heading", { name: "Alert 5" });
  const moves = within(await screen.findByRole("region", { name: "Actions" }));
  expect(moves.queryByRole("button", { name: "Reopen" })).not.toBeInTheDocument();
  expect(moves.getByRole("button", { name: "Expected" })).toBeDisabled();
  await user.type(moves.getByRole("textbox", { name: "Comment" }), "as planned");
  await user.click(moves.getByRole("combobox", { name: "Event that explains the change" }));
  await user.click(await screen.findByRole("option", { name: /new kernel/ }));
  await user.click(moves.getByRole("button", { name: "Expected" }));
  const nothing = { owner: null, due_at: null };
  await waitFor(() =>
    expect(bodies).toEqual([{ action: "expect", comment: "as planned", event_id: 7, ...nothing }]),
  );
  const history = within(screen.getByRole("table", { name: "History" })).getAllByRole("row")[1];
  expect(history).toHaveTextContent(/automaticConfirmedsuspect → untriaged/);
});

const RULE = {
  id: 2,
  cluster_id: 1,
  cluster_name: "hpc1",
  name: "nightly-slower",
  target: null,
  workload: "dd",
  metric: null,
  least_shift_ratio: 0.05,
  directions: "worse",
  missing_runs: true,
  control_workload: null,
  channel_ids: [],
  muted_until: null,
  created_at: "2026-11-21T10:00:00Z",
  open_alerts: 3,
};

function channel(id: number, clusterId: number, name: string) {
  const receiver = { kind: "slack", has_url: true };
  const never = { quiet_hours: null, digest: null, digest_due_at: null, delivered_at: null, failed_at: null };
  return { id, name, cluster_id: clusterId, cluster_name: "hpc", receiver, failure: null, ...never };
}

it("shows how many alerts a deleted rule closes, and adds a rule with ratios", async () => {
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/alert-rules", () => listOf([RULE])),
    http.get("*/api/v1/tokens", () => listOf([])),
    http.get("*/api/v1/channels", () =>
      listOf([channel(4, 1, "storage-people"), channel(5, 2, "elsewhere")]),
    ),
    http.post("*/api/v1/alert-rules", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(RULE, { status: 201 });
    }),
    http.delete("*/api/v1/alert-rules/2", () => {
      sent.push("deleted");
      return HttpResponse.json({ closed_alerts: 3 });
    }),
  );
  const { user } = openDashboard("/settings");
  await screen.findByRole("heading", { name: "Settings" });
  await user.click(await screen.findByRole("button", { name: "Delete nightly-slower" }));
  expect(await screen.findByText(/3 open alerts are closed as well/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Delete rule" }));
  await user.click(screen.getByRole("button", { name: "Add alert rule" }));
  await user.type(screen.getByRole("textbox", { name: "Rule name" }), "slower");
  await user.click(screen.getByRole("combobox", { name: "Notify via" }));
  await user.click(await screen.findByRole("option", { name: "storage-people" }));
  expect(screen.queryByRole("option", { name: "elsewhere" })).not.toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Add rule" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toMatchObject({
    name: "slower",
    cluster: "hpc1",
    least_shift_ratio: 0.05,
    missing_runs: true,
    channel_ids: [4],
  });
});

it("edits a rule in its form, and mutes it without changing the rest", async () => {
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/alert-rules", () => listOf([RULE])),
    http.get("*/api/v1/tokens", () => listOf([])),
    http.put("*/api/v1/alert-rules/2", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(RULE);
    }),
  );
  const { user } = openDashboard("/settings");
  await user.click(await screen.findByRole("button", { name: "Edit nightly-slower" }));
  const form = within(screen.getByRole("form", { name: "Change nightly-slower" }));
  expect(form.getByRole("combobox", { name: "Workload" })).toHaveValue("dd");
  await user.selectOptions(form.getByRole("combobox", { name: "Directions" }), "both");
  await user.click(form.getByRole("button", { name: "Save rule" }));
  await user.click(screen.getByRole("button", { name: "Mute nightly-slower" }));
  await user.click(await screen.findByRole("menuitem", { name: "For 8 hours" }));
  const same = { name: "nightly-slower", cluster: "hpc1", workload: "dd", target: null, channel_ids: [] };
  await waitFor(() =>
    expect(sent).toMatchObject([
      { ...same, directions: "both", least_shift_ratio: 0.05, muted_until: null },
      { ...same, directions: "worse", muted_until: expect.stringMatching(/Z$/) },
    ]),
  );
});
