import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const PLAN = {
  name: "nightly",
  cluster: "hpc1",
  nodes: ["node-1"],
  nodes_at_once: false,
  targets: ["disk"],
  targets_at_once: false,
  workloads: [{ workload: "dd" }],
  window: { from: "22:00", until: "05:00", time_zone: "Europe/Zurich" },
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
const SCHEDULE = {
  id: 5,
  name: "every-night",
  cluster_id: 1,
  cluster_name: "hpc1",
  owner: "grace",
  state: "active",
  plan: PLAN,
  cron: "30 2 * * *",
  monthly: null,
  words: "At 02:30 every day",
  time_zone: "Europe/Zurich",
  random_offset_seconds: 0,
  ends_at: null,
  max_firings: null,
  missed: "run_once",
  firings_made: 1,
  next_firings: [{ planned_at: "2999-01-01T01:30:00Z", fires_at: "2999-01-01T01:30:00Z" }],
  last_firing: null,
};
const FIRED = {
  id: 1,
  fired_at: "2026-11-21T01:30:00Z",
  outcome: "submitted",
  campaign_id: 7,
  problem: null,
  missed: 0,
};

beforeEach(() => {
  sessionStorage.clear();
  server.use(...USUAL_ANSWERS);
});

function answerWith(...schedules: object[]): void {
  server.use(http.get("*/api/v1/schedules", () => listOf(schedules)));
}

it("explains schedules if there are none", async () => {
  openDashboard("/schedules");
  expect(await screen.findByText(/No schedules yet/)).toBeInTheDocument();
});

it("links to the last campaign, or shows why there is none", async () => {
  const refused = { ...FIRED, outcome: "failed", campaign_id: null, problem: "there is no node node-1" };
  answerWith(
    { ...SCHEDULE, last_firing: FIRED },
    { ...SCHEDULE, id: 6, name: "other", last_firing: { ...refused, missed: 2 } },
  );
  openDashboard("/schedules");
  expect(await screen.findByRole("link", { name: "Campaign 7" })).toHaveAttribute("href", "/campaigns/7");
  expect(screen.getByText("there is no node node-1")).toBeInTheDocument();
  expect(screen.getByText(/2 missed/)).toBeInTheDocument();
});

it("shows the next firing in the calendar's time zone", async () => {
  answerWith(SCHEDULE);
  openDashboard("/schedules");
  expect(await screen.findByText("Tue, 1 Jan 2999, 02:30 GMT+1")).toBeInTheDocument();
});

it("pauses and runs at once, and deletes only after confirmation", async () => {
  const asked: string[] = [];
  answerWith(SCHEDULE);
  server.use(
    http.post("*/api/v1/schedules/5/:step", ({ params }) => {
      asked.push(String(params.step));
      return HttpResponse.json({});
    }),
    http.delete("*/api/v1/schedules/5", () => {
      asked.push("delete");
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = openDashboard("/schedules");
  for (const name of ["Pause every-night", "Run every-night now", "Duplicate every-night"]) {
    const button = await screen.findByRole("button", { name });
    await waitFor(() => expect(button).toBeEnabled());
    await user.click(button);
  }
  await user.click(screen.getByRole("button", { name: "Delete every-night" }));
  await user.click(await screen.findByRole("button", { name: "Keep it" }));
  await user.click(screen.getByRole("button", { name: "Delete every-night" }));
  await user.click(await screen.findByRole("button", { name: "Delete schedule" }));
  await waitFor(() => expect(asked).toEqual(["pause", "run", "duplicate", "delete"]));
});

it("hides actions from viewers", async () => {
  answerWith(SCHEDULE);
  const principal = { kind: "user", id: 1, name: "vera", roles: [{ role: "viewer", cluster_id: null }] };
  server.use(http.get("*/api/v1/session", () => HttpResponse.json({ principal })));
  openDashboard("/schedules");
  const table = within(await screen.findByRole("table", { name: "Schedules" }));
  expect(table.queryByRole("button")).not.toBeInTheDocument();
});

/** Answer the builder's requests and return the bodies that it saves. */
function answerBuilder(): unknown[] {
  const bodies: unknown[] = [];
  const workload = { name: "dd", options_schema: {}, revision: 1, title: "dd", description: "", nodes: [] };
  const node = { id: 4, name: "node-1", state: "online", workloads: [], active_orders: [], stuck: [] };
  const refusal = (code: string, message: string) =>
    HttpResponse.json({ error: { code, message } }, { status: 422 });
  server.use(
    http.get("*/api/v1/schedules/5", () => HttpResponse.json(SCHEDULE)),
    http.get("*/api/v1/nodes", () => listOf([node])),
    http.get("*/api/v1/targets", () => listOf([{ id: 1, name: "disk", scope: "node", mounts: [] }])),
    http.get("*/api/v1/workloads", () => listOf([workload])),
    http.post("*/api/v1/campaigns/preview", () => refusal("conflict", "no preview here")),
    http.post("*/api/v1/schedules/preview", async ({ request }) => {
      const { cron } = (await request.json()) as { cron: string };
      if (cron.startsWith("61")) return refusal("cron_refused", "cron: cannot read the minute");
      const firings = ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"];
      return HttpResponse.json({ cron, words: "At 02:30 every day", firings });
    }),
    http.put("*/api/v1/schedules/5", async ({ request }) => {
      bodies.push(await request.json());
      return HttpResponse.json(SCHEDULE);
    }),
  );
  return bodies;
}

it("reports a deleted schedule, and links to campaigns and schedules", async () => {
  answerBuilder();
  server.use(http.get("*/api/v1/schedules/5", () => HttpResponse.json({ ...SCHEDULE, plan: null })));
  openDashboard("/campaigns/new?schedule=5");
  expect(await screen.findByText(/This schedule was deleted\./)).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "campaigns" })).toHaveAttribute("href", "/campaigns");
  expect(screen.queryByRole("textbox", { name: "Campaign name" })).not.toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Save schedule" })).not.toBeInTheDocument();
});

it("opens a schedule in the builder with its next firings, and replaces it on save", async () => {
  const bodies = answerBuilder();
  const { user, router } = openDashboard("/campaigns/new?schedule=5&step=when");
  const next = within(await screen.findByRole("list", { name: "Next firings" }));
  expect(next.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "Sat, 28 Mar 2026, 02:30 GMT+1",
    "Sun, 29 Mar 2026, 03:00 GMT+2",
  ]);
  await user.click(screen.getByText("Advanced"));
  const cron = screen.getByRole("textbox", { name: "Cron expression" });
  await user.clear(cron);
  await user.type(cron, "61 2 * * *");
  expect(await screen.findByText("cron: cannot read the minute")).toBeInTheDocument();
  await user.clear(cron);
  await user.type(cron, "0 4 * * *");
  await user.click(screen.getByRole("button", { name: "Save schedule" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/schedules"));
  expect(bodies).toMatchObject([
    {
      name: "every-night",
      cron: "0 4 * * *",
      time_zone: "Europe/Zurich",
      missed: "run_once",
      plan: { name: "nightly", window: PLAN.window },
    },
  ]);
});
