import { listOf, NO_BOARD, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
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
    suspects: 0,
    open_alerts: 0,
    last_at: "2026-11-20T02:00:00Z",
    ...details,
  };
}

const SLOWER = cell("dd", "slower", {
  since: "2026-11-02T02:00:00Z",
  since_cell_id: 33,
  shift_ratio: -0.2,
  words: "20.0 % lower than before",
  counts: [
    { state: "slower", series: 1 },
    { state: "in_control", series: 3 },
  ],
});

function answerBoard(...cells: object[]): URL[] {
  const asked: URL[] = [];
  server.use(
    http.get("*/api/v1/board", ({ request }) => {
      asked.push(new URL(request.url));
      return HttpResponse.json({ ...NO_BOARD, workloads: ["dd", "fio"], cells });
    }),
  );
  return asked;
}

it("shows state and date of each workload by sign and word, and links to its changes", async () => {
  answerBoard(SLOWER, cell("fio", "in_control"));
  openDashboard("/");
  const board = within(await screen.findByRole("table", { name: "Clusters by workload" }));
  expect(board.getByRole("columnheader", { name: "dd" })).toBeInTheDocument();
  const slower = board.getByRole("link", { name: "slower" });
  expect(slower).toHaveTextContent("▼ slower");
  expect(slower).toHaveAttribute("href", "/changes?cluster=1&workload=dd&direction=worse");
  expect(slower.closest("td")).toHaveTextContent("since 2 Nov 2026, 1 of 4 series");
  expect(board.getByRole("link", { name: "in control" })).toHaveAttribute(
    "href",
    "/clusters/1/trend?workload=fio",
  );
  const list = within(screen.getByRole("table", { name: "Series to check" }));
  expect(list.getByText("20.0 % lower than before")).toBeInTheDocument();
  expect(list.queryByText("in control")).not.toBeInTheDocument();
  expect(screen.getByText(/1 slower, 1 in control/)).toBeInTheDocument();
});

it("requests the chosen period and keeps it in the address", async () => {
  const asked = answerBoard(SLOWER);
  const { router, user } = openDashboard("/");
  await user.selectOptions(await screen.findByRole("combobox", { name: "Period" }), "Last 30 days");
  expect(router.state.location.search).toEqual({ days: 30 });
  await screen.findByRole("table", { name: "Clusters by workload" });
  expect(asked.map(({ searchParams }) => searchParams.get("days"))).toEqual(["90", "30"]);
});

it("lists problems with link, date and remedy", async () => {
  const item = {
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
  };
  const words = "no data since 25 Oct 2026: usually measured every 7 days";
  const stale = { ...item, kind: "stale_series", words, target_id: null, series: SERIES, series_count: 3 };
  const failing = {
    ...item,
    kind: "failing_schedule",
    words: "weekly failed 4 times in a row",
    schedule_id: 3,
  };
  const silent = { ...item, kind: "silent_nodes", words: "3 nodes are silent" };
  const attention = [item, { ...item, target_id: 6 }, failing, stale, silent];
  server.use(
    http.get("*/api/v1/board", () => HttpResponse.json({ ...NO_BOARD, attention, attention_left_out: 2 })),
  );
  openDashboard("/");
  const list = within(await screen.findByRole("table", { name: "Needs attention" }));
  const lost = list.getAllByRole("link", { name: "Lost mount" });
  expect(lost.map((link) => link.getAttribute("href"))).toEqual(["/targets/5", "/targets/6"]);
  expect(list.getByRole("link", { name: "Silent nodes" })).toHaveAttribute("href", "/clusters/1");
  expect(list.getByRole("link", { name: "Schedule" })).toHaveAttribute("href", "/schedules");
  const trend = list.getByRole("link", { name: "dd: Throughput" });
  expect(trend.getAttribute("href")).toContain("/clusters/1/trend");
  const row = within(trend.closest("tr") as HTMLElement);
  expect(row.getByText(words)).toBeInTheDocument();
  expect(row.getByText("and 2 more series")).toBeInTheDocument();
  expect(row.getByText("1 Nov 2026")).toBeInTheDocument();
  expect(screen.getByText("2 more items are not shown.")).toBeInTheDocument();
});

it("shows no list without problems, and shows recoveries", async () => {
  const words = "recovered on 20 Sep 2026: was 18.0 % lower since 11 Aug 2026";
  answerBoard(cell("dd", "in_control", { since: "2026-09-20T02:00:00Z", words }));
  openDashboard("/");
  const board = within(await screen.findByRole("table", { name: "Clusters by workload" }));
  expect(board.getByRole("link", { name: "in control" }).closest("td")).toHaveTextContent(`4 series${words}`);
  expect(screen.queryByRole("table", { name: "Needs attention" })).not.toBeInTheDocument();
});

it("explains that without rules no alerts are raised", async () => {
  const { unmount } = openDashboard("/");
  expect(await screen.findByText(/No alert rule is configured yet/)).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "Add alert rule" })).toHaveAttribute("href", "/settings");
  unmount();
  server.use(http.get("*/api/v1/alert-rules", () => listOf([{ id: 1, name: "all" }])));
  openDashboard("/");
  expect(await screen.findByText(/^No open alerts\./)).toBeInTheDocument();
});

it("shows nodes with problems and workloads not measured", async () => {
  const nodes = { online: 3, stuck: 2, silent: 1, never_seen: 0, drained: 0, passed_over: 0 };
  const cluster = { ...NO_BOARD.clusters[0], nodes, open_alerts: 2 };
  server.use(http.get("*/api/v1/board", () => HttpResponse.json({ ...NO_BOARD, clusters: [cluster] })));
  openDashboard("/");
  const board = within(await screen.findByRole("table", { name: "Clusters by workload" }));
  expect(board.getByText("1 silent")).toBeInTheDocument();
  expect(board.getByText("2 stuck")).toBeInTheDocument();
  expect(board.getByRole("link", { name: "2 open" })).toHaveAttribute("href", "/alerts?cluster=1");
  expect(screen.getByText(/^no measurements, since/)).toBeInTheDocument();
});

it("opens the new cluster's page, which shows how to add a node", async () => {
  server.use(
    http.get("*/api/v1/clusters", () => listOf([])),
    http.post("*/api/v1/clusters", () => HttpResponse.json({ id: 1, name: "hpc1" }, { status: 201 })),
  );
  const { router, user } = openDashboard("/");
  await user.type(await screen.findByLabelText(/^Cluster name/), "hpc1");
  await user.click(screen.getByRole("button", { name: "Create cluster" }));
  await screen.findByRole("heading", { level: 1, name: /^Cluster/ });
  expect(router.state.location.pathname).toBe("/clusters/1");
});

it("hides the cluster form without permission", async () => {
  const roles = [{ role: "viewer", cluster_id: null }];
  server.use(
    http.get("*/api/v1/session", () =>
      HttpResponse.json({ principal: { kind: "user", id: 1, name: "grace", roles } }),
    ),
    http.get("*/api/v1/clusters", () => listOf([])),
  );
  openDashboard("/");
  expect(await screen.findByText(/Ask an admin to create one/)).toBeInTheDocument();
  expect(screen.queryByRole("form", { name: "New cluster" })).not.toBeInTheDocument();
});
