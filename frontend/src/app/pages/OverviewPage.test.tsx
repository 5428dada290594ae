import { listOf, NO_BOARD, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

beforeEach(() => server.use(...USUAL_ANSWERS));

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
  labels: {},
  point_count: 60,
  last_value: 80,
  last_at: "2026-11-20T02:00:00Z",
};

const NO_TREND = { at_seconds: [], medians: [], levels: [], changes_seconds: [] };

function cell(workload: string, state: string, details: object = {}) {
  return {
    cluster_id: 1,
    workload,
    state,
    since: null,
    counts: [{ state, series: 4 }],
    worst: { ...SERIES, workload },
    since_cell_id: null,
    shift_ratio: null,
    words: "no significant change in 60 points",
    line: "no significant change in 60 points",
    trend: NO_TREND,
    suspects: 0,
    open_incidents: 0,
    last_at: "2026-11-20T02:00:00Z",
    ...details,
  };
}

const DAY = 86_400;
const SLOWER = cell("fio", "slower", {
  since: "2026-11-02T02:00:00Z",
  since_cell_id: 33,
  shift_ratio: -0.2,
  words: "20.0 % lower than before",
  line: "−20.0 % since 2 Nov, kernel 5.14.0-427",
  trend: {
    at_seconds: [0, 30 * DAY, 72 * DAY, 89 * DAY],
    medians: [100, 101, 80, 81],
    levels: [
      { start_seconds: 0, end_seconds: 72 * DAY, start: 100, end: 100 },
      { start_seconds: 72 * DAY, end_seconds: 89 * DAY, start: 80, end: 80 },
    ],
    changes_seconds: [72 * DAY],
  },
  counts: [
    { state: "slower", series: 1 },
    { state: "in_control", series: 3 },
  ],
});

/** A cluster with an online node. */
const CLUSTER = {
  ...NO_BOARD.clusters[0],
  nodes: { online: 1, stuck: 0, silent: 0, never_seen: 0, drained: 0, passed_over: 0 },
};

function answerBoard(board: object): URL[] {
  const asked: URL[] = [];
  server.use(
    http.get("*/api/v1/board", ({ request }) => {
      asked.push(new URL(request.url));
      return HttpResponse.json({ ...NO_BOARD, clusters: [CLUSTER], ...board });
    }),
  );
  return asked;
}

it("shows state, small trend and cause of each workload, worst first, and links to the trend", async () => {
  answerBoard({ cells: [cell("dd", "in_control"), SLOWER] });
  openDashboard("/");
  const cluster = within(await screen.findByRole("group", { name: "hpc1" }));
  const [slower, steady] = cluster.getAllByRole("listitem").map((item) => within(item).getByRole("link"));
  expect(slower).toHaveTextContent("fio ▼ slower 1 of 4 series−20.0 % since 2 Nov, kernel 5.14.0-427");
  expect(slower?.getAttribute("href")).toBe(
    "/clusters/1/trend?workload=fio&metric=throughput&series=%5B7%5D&cell=33",
  );
  expect(slower?.querySelectorAll("polyline, .iotide-curve-level, .iotide-curve-change")).toHaveLength(4);
  expect(steady).toHaveTextContent("dd = in control 4 series");
  expect(steady?.querySelector("svg")).toBeNull();
  expect(screen.getByRole("heading", { name: "Overview" }).parentElement).toHaveTextContent(
    "Overview▼ 1 slower= 1 in control",
  );
  expect(cluster.getByText("1 node online")).toBeInTheDocument();
});

it("puts the cluster with the worst cell first", async () => {
  const calm = { ...CLUSTER, id: 2, name: "calm" };
  answerBoard({
    clusters: [calm, CLUSTER],
    cells: [{ ...cell("dd", "in_control"), cluster_id: 2 }, SLOWER],
  });
  openDashboard("/");
  const groups = await screen.findAllByRole("group", { name: /hpc1|calm/ });
  expect(groups.map((group) => group.getAttribute("aria-label"))).toEqual(["hpc1", "calm"]);
});

it("requests the chosen period and keeps it in the address", async () => {
  const asked = answerBoard({ cells: [SLOWER] });
  const { router, user } = openDashboard("/");
  await user.selectOptions(await screen.findByRole("combobox", { name: "Period" }), "Last 30 days");
  expect(router.state.location.search).toEqual({ days: 30 });
  await screen.findByRole("group", { name: "hpc1" });
  expect(asked.map(({ searchParams }) => searchParams.get("days"))).toEqual(["90", "30"]);
});

const ITEM = {
  kind: "lost_mount",
  cluster_id: 1,
  words: "/home (home) is not mounted on c02",
  remedy: "mount /home on c02 again",
  since: "2026-11-01T04:00:00Z",
  schedule_id: null,
  target_id: 5,
  node_id: 2,
  series: null,
  series_count: 0,
  workload: null,
};
const STALE = {
  ...ITEM,
  kind: "stale_series",
  words: "no data since 25 Oct 2026: usually measured every 7 days",
  remedy: "measure it again",
  target_id: null,
  series: SERIES,
  series_count: 3,
};

it("lists problems in one line each, with date and with the remedy as a link", async () => {
  const others = [
    { ...ITEM, kind: "failing_schedule", words: "weekly failed", remedy: "run it", schedule_id: 3 },
    { ...ITEM, kind: "silent_nodes", words: "3 nodes are silent", remedy: "start the agent" },
    { ...ITEM, kind: "open_incidents", words: "2 open incidents of dd", remedy: "acknowledge" },
    { ...ITEM, kind: "outlier_node", words: "c03: dd 12 % below", remedy: "compare", workload: "dd" },
  ];
  const attention = [ITEM, { ...ITEM, target_id: 6 }, ...others, STALE];
  answerBoard({ cells: [SLOWER], attention, attention_left_out: 2 });
  openDashboard("/");
  const list = within(await screen.findByRole("list", { name: "Needs attention" }));
  const lost = list.getAllByRole("link", { name: "mount /home on c02 again" });
  expect(lost.map((link) => link.getAttribute("href"))).toEqual(["/targets/5", "/targets/6"]);
  expect(lost[0]?.closest("li")).toHaveTextContent(
    "hpc1: /home (home) is not mounted on c02, since 1 Nov 2026 mount /home on c02 again",
  );
  for (const [name, address] of [
    ["run it", "/schedules"],
    ["start the agent", "/clusters/1"],
    ["acknowledge", "/incidents?cluster=1"],
    ["compare", "/peers?cluster=1&workload=dd"],
    ["measure it again", "/clusters/1/trend?workload=dd&metric=throughput&series=%5B7%5D"],
  ])
    expect(list.getByRole("link", { name: name as string })).toHaveAttribute("href", address);
  expect(list.getByText(/dd, scratch and 2 more series: no data since 25 Oct 2026/)).toBeInTheDocument();
  expect(screen.getByText("2 more items are not shown.")).toBeInTheDocument();
});

it("hides sections without content", async () => {
  answerBoard({ cells: [cell("dd", "in_control")] });
  openDashboard("/");
  await screen.findByRole("group", { name: "hpc1" });
  for (const name of ["Needs attention", "Throughput over time", "Running campaigns", "Next campaigns"])
    await waitFor(() => expect(screen.queryByRole("region", { name })).not.toBeInTheDocument());
});

it("shows running campaigns and the next ones in one line each", async () => {
  answerBoard({ cells: [SLOWER] });
  const counts = { waiting: 2, active: 1, finished: 5, failed: 1, cancelled: 0 };
  const running = { id: 4, name: "nightly", state: "active", cluster_name: "hpc1", counts, preparations: [] };
  const schedule = {
    id: 3,
    name: "weekly",
    state: "active",
    cluster_name: "hpc1",
    next_firings: [{ fires_at: "2026-11-22T02:00:00Z" }],
  };
  server.use(
    http.get("*/api/v1/campaigns", ({ request }) =>
      listOf(new URL(request.url).searchParams.get("state") === "active" ? [running] : []),
    ),
    http.get("*/api/v1/schedules", () => listOf([schedule])),
  );
  openDashboard("/");
  expect(await screen.findByRole("region", { name: "Running campaigns" })).toHaveTextContent(
    "Campaigns: nightly running (6 of 9 runs, 1 failed, hpc1)",
  );
  expect(await screen.findByRole("region", { name: "Next campaigns" })).toHaveTextContent(
    /^Next: .*weekly \(hpc1\)/,
  );
});

it("shows nodes with problems and clusters not measured", async () => {
  const nodes = { online: 3, stuck: 2, silent: 1, never_seen: 0, drained: 0, passed_over: 0 };
  const other = { ...CLUSTER, id: 2, name: "other", nodes };
  answerBoard({ clusters: [CLUSTER, other], cells: [SLOWER] });
  openDashboard("/");
  const cluster = within(await screen.findByRole("group", { name: "other" }));
  expect(cluster.getByText("1 silent")).toBeInTheDocument();
  expect(cluster.getByText("2 stuck")).toBeInTheDocument();
  expect(cluster.getByText("not measured in this period")).toBeInTheDocument();
});

it("shows the open incidents of a cluster with their actions below the line that counts them", async () => {
  const attention = [
    { ...ITEM, kind: "open_incidents", words: "1 open incident of dd", remedy: "acknowledge" },
  ];
  answerBoard({ cells: [SLOWER], attention });
  const asked: string[] = [];
  const incident = {
    ...{ id: 8, cluster_id: 1, cluster_name: "hpc1", kind: "worse", state: "open", owner: null },
    ...{ words: "scratch: dd write −20.0 % since 11 Aug 2026", at: "2026-08-11T10:00:00Z", series: null },
    ...{ change: null, event: null, moves: ["acknowledge"], is_environment: false },
  };
  server.use(
    http.get("*/api/v1/incidents", ({ request }) => {
      asked.push(new URL(request.url).search);
      return listOf([incident]);
    }),
  );
  const { user } = openDashboard("/");
  await user.click(await screen.findByRole("button", { name: "Open incidents of hpc1" }));
  const table = within(await screen.findByRole("table", { name: "Open incidents" }));
  expect(table.getByRole("link", { name: incident.words })).toHaveAttribute("href", "/incidents/8");
  expect(table.getByRole("button", { name: "Acknowledge: incident 8" })).toBeEnabled();
  expect(asked).toEqual(["?cluster_id=1&state=open&limit=5"]);
});
