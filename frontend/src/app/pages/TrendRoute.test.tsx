import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const DD = {
  id: 1,
  cluster_id: null,
  name: "dd",
  title: "dd",
  options_schema: { properties: { flush: { type: "string", title: "Flush at the end" } } },
  metrics: [{ name: "throughput", title: "Throughput" }],
};

function series(id: number, pointCount: number, options = {}) {
  return {
    id,
    cluster_id: 1,
    node_names: ["node-1"],
    target_names: ["disk"],
    variant: "",
    workload: "dd",
    metric: "throughput",
    title: "Throughput",
    unit: "bytes_per_second",
    labels: {},
    options,
    point_count: pointCount,
  };
}
const MANY = Array.from({ length: 12 }, (_, id) => series(id + 1, 12 - id, { flush: `way ${id}` }));

function points(id: number) {
  const found = MANY.find((one) => one.id === id);
  const rate = [100e6];
  const point = {
    at: ["2026-11-21T10:00:00Z"],
    median: rate,
    low: rate,
    high: rate,
    n: [2],
    flags: [[]],
    usual_flags: [[]],
  };
  return {
    series: found,
    left_out: 0,
    ...point,
    cell_id: [100 + id],
    campaign_id: [9],
    gaps: [],
    failures: [],
  };
}

const NOISE = {
  at: "2026-11-10T10:00:00Z",
  words: "2.4 times as noisy, 1.2 % -> 2.9 % (15 points after, 24 before)",
  p_value: 0.0004,
  confirmed_at: "2026-11-20T10:00:00Z",
};

function analysis(id: number, changes: readonly unknown[] = []) {
  const words = changes.length > 0 ? "1 change in 39 points" : "no significant change in 39 points";
  return { series_id: id, course: "steady", words, n: 39, suspect: null, changes, events: [] };
}

const CHANGE = {
  id: 1,
  series_id: 3,
  at: "2026-11-21T10:00:00Z",
  cell_id: 103,
  median_before: 100e6,
  reasons: [],
  median_after: 80e6,
  p_value: 0.0000002,
  words: "20.0 % lower, worse (9 points after, 30 before)",
  confirmed_at: null,
};

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/workloads", () => listOf([DD])),
    http.get("*/api/v1/series", () => listOf(MANY)),
    http.get("*/api/v1/series/:id/points", ({ params }) => HttpResponse.json(points(Number(params.id)))),
    http.get("*/api/v1/series/:id/analysis", ({ params }) => HttpResponse.json(analysis(Number(params.id)))),
  );
});

it("keeps its first choice of series even if others get more points", async () => {
  const { client, router } = openDashboard("/clusters/1/trend?view=table");
  const chosen = [1, 2, 3, 4, 5, 6, 7, 8];
  await waitFor(() => expect(router.state.location.search).toMatchObject({ series: chosen }));
  const others = MANY.map((one) => ({ ...one, point_count: one.id }));
  server.use(http.get("*/api/v1/series", () => listOf(others)));
  await client.invalidateQueries({ queryKey: ["series", "list"] });
  expect(router.state.location.search).toMatchObject({ series: chosen });
  const table = within(await screen.findByRole("table", { name: "Points of the trend" }));
  await waitFor(() => expect(table.getAllByRole("row")).toHaveLength(1 + chosen.length));
  expect(table.getByText("Flush at the end way 0")).toBeInTheDocument();
});

it("opens the worst trend of the cluster", async () => {
  const once = { ...DD, id: 2, name: "iozone", title: "IOzone" };
  server.use(
    http.get("*/api/v1/workloads", () => listOf([once, DD])),
    http.get("*/api/v1/board/series", () =>
      HttpResponse.json({ measured: [], series: [{ series: { ...series(3, 1), workload: "dd" } }] }),
    ),
  );
  const { router } = openDashboard("/clusters/1/trend");
  expect(await screen.findByLabelText("Workload")).toHaveValue("dd");
  await waitFor(() => expect(router.state.location.search).toMatchObject({ workload: "dd", series: [3] }));
});

it("shows the values of a point's runs, and only runs of its cell", async () => {
  const run = {
    campaign_id: 9,
    cell_id: 103,
    node_names: ["node-1"],
    target_names: ["disk"],
    variant: "",
    workload: "dd",
    options: {},
    state: "finished",
    flags: [],
    usual_flags: [],
    started_at: null,
  };
  const sample = { title: "Throughput", unit: "bytes_per_second" };
  server.use(
    http.get("*/api/v1/runs", () =>
      listOf([
        { ...run, id: 71 },
        { ...run, id: 72 },
        { ...run, id: 80, cell_id: 5 },
      ]),
    ),
    http.get("*/api/v1/samples", ({ request }) => {
      const isSecondPage = new URL(request.url).searchParams.get("cursor") === "next";
      return isSecondPage
        ? listOf([{ ...sample, id: 1, run_id: 71, value: 90e6 }])
        : HttpResponse.json({ items: [{ ...sample, id: 2, run_id: 72, value: 110e6 }], next_cursor: "next" });
    }),
  );
  openDashboard("/clusters/1/trend?view=table&series=[3]&cell=103");
  const table = within(await screen.findByRole("table", { name: "Runs behind this data point" }));
  expect(await table.findByText("90 MB/s")).toBeInTheDocument();
  expect(table.getByText("110 MB/s")).toBeInTheDocument();
  expect(table.getByRole("columnheader", { name: "Throughput" })).toBeInTheDocument();
  expect(table.queryByText("80")).not.toBeInTheDocument();
});

it("shows each series' changes with dates, and the runs of the first point after one", async () => {
  server.use(
    http.get("*/api/v1/series/3/analysis", () => HttpResponse.json(analysis(3, [CHANGE]))),
    http.get("*/api/v1/series/4/analysis", () =>
      HttpResponse.json({ ...analysis(4), suspect: { is_higher: false }, noise: NOISE }),
    ),
  );
  const { router, user } = openDashboard("/clusters/1/trend?view=table&series=%5B2%2C3%2C4%5D");
  const table = within(await screen.findByRole("table", { name: "Changes" }));
  await waitFor(() => expect(table.getAllByRole("row")).toHaveLength(5));
  const [, steady, changed, suspect, noisier] = table.getAllByRole("row");
  expect(steady).toHaveTextContent("no significant change in 39 points");
  expect(changed).toHaveTextContent("20.0 % lower, worse (9 points after, 30 before)unconfirmed");
  expect(changed).toHaveTextContent(/100 MB\/s80 MB\/s< 0\.0001/);
  expect(suspect).toHaveTextContent("suspected: the newest points are lower");
  expect(noisier).toHaveTextContent("2.4 times as noisy, 1.2 % -> 2.9 % (15 points after, 24 before)");
  await user.click(within(changed as HTMLElement).getByRole("button"));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ cell: 103 }));
});

it("shows since when data is missing, and lists gaps and failed runs with links", async () => {
  const failure = {
    at: "2026-11-22T10:00:00Z",
    campaign_id: 12,
    cell_id: 112,
    run_id: 80,
    run_count: 3,
    reason_code: "no_space",
    reason: "no space left",
  };
  server.use(
    http.get("*/api/v1/series/3/points", () =>
      HttpResponse.json({
        ...points(3),
        gaps: [{ since: "2026-10-25T10:00:00Z", until: null }],
        failures: [failure],
      }),
    ),
  );
  openDashboard("/clusters/1/trend?view=table&series=[3]");
  expect(await screen.findByText("no data since 25 Oct 2026")).toBeInTheDocument();
  const table = within(screen.getByRole("table", { name: "Gaps and failures" }));
  const [, failed, gap] = table.getAllByRole("row");
  expect(failed).toHaveTextContent("3 runs failed: no space left");
  expect(gap).toHaveTextContent("no data 25 Oct 2026 – today");
  expect(table.getByRole("link", { name: "run 80" })).toHaveAttribute("href", "/runs/80");
  expect(table.getByRole("link", { name: "campaign 12" })).toHaveAttribute("href", "/campaigns/12");
});

it("shows the effect of another kernel on each affected series", async () => {
  const event = { id: 7, at: "2026-11-21T10:00:00Z", text: "kernel: 6.1.0-30 -> 6.1.0-35", told_by: null };
  const words = "no significant effect (8 points after, 20 before)";
  server.use(
    http.get("*/api/v1/series/2/analysis", () =>
      HttpResponse.json({ ...analysis(2), events: [{ event, words, p_value: 0.4321 }] }),
    ),
  );
  openDashboard("/clusters/1/trend?view=table&series=%5B2%2C3%5D");
  const table = within(await screen.findByRole("table", { name: "Events" }));
  const [, row] = table.getAllByRole("row");
  expect(row).toHaveTextContent(/kernel: 6\.1\.0-30 -> 6\.1\.0-35runs/);
  expect(row).toHaveTextContent(/no significant effect \(8 points after, 20 before\)0\.4321/);
});

it("requests and shows the period in the address, with a way back to the full range", async () => {
  const spans: string[] = [];
  server.use(
    http.get("*/api/v1/series/:id/points", ({ params, request }) => {
      spans.push(new URL(request.url).searchParams.get("from") ?? "all");
      return HttpResponse.json({ ...points(Number(params.id)), left_out: 1200 });
    }),
  );
  const from = "2026-11-01T00:00:00.000Z";
  const { router, user } = openDashboard(
    `/clusters/1/trend?view=table&series=[3]&from=${from}&to=2026-11-30T00:00:00.000Z`,
  );
  expect(await screen.findByText(/^1,200 more points are not drawn/)).toBeInTheDocument();
  expect(new Set(spans)).toEqual(new Set([from]));
  await user.click(screen.getByRole("button", { name: "1 Nov 2026 – 30 Nov 2026 ×" }));
  await waitFor(() => expect(spans).toContain("all"));
  expect(router.state.location.search).not.toHaveProperty("from");
});

it("says what is drawn in the heading and the document's title", async () => {
  openDashboard("/clusters/1/trend?workload=dd&view=table&series=[3]");
  const title = "Throughput of dd · disk · node-1 · hpc1";
  expect(await screen.findByRole("heading", { name: title })).toBeInTheDocument();
  expect(document.title).toBe(`${title} · iotide`);
});

it("compares two time ranges by median, spread and count, without a verdict, and keeps them in the address", async () => {
  server.use(
    http.get("*/api/v1/series/:id/points", ({ params, request }) => {
      const isEarlier = new URL(request.url).searchParams.get("to") === "2026-10-31T00:00:00.000Z";
      const median = isEarlier ? [100e6, 100e6, 100e6] : [80e6, 80e6];
      return HttpResponse.json({ ...points(Number(params.id)), median });
    }),
  );
  const { router, user } = openDashboard("/clusters/1/trend?view=table&series=[3]");
  await user.click(await screen.findByRole("button", { name: "Compare two time ranges" }));
  await waitFor(() => expect(router.state.location.search).toHaveProperty("b_to"));
  const a = "a_from=2026-10-01T00:00:00.000Z&a_to=2026-10-31T00:00:00.000Z";
  const b = "b_from=2026-11-01T00:00:00.000Z&b_to=2026-11-20T00:00:00.000Z";
  router.history.push(`/clusters/1/trend?view=table&series=[3]&${a}&${b}`);
  const table = within(await screen.findByRole("table", { name: "Two time ranges" }));
  expect(await table.findByText("−20.0 %")).toBeInTheDocument();
  expect(table.getAllByRole("row")[1]).toHaveTextContent(/100 MB\/s.*3.*80 MB\/s.*2/);
  await user.click(screen.getByRole("button", { name: "Stop comparing" }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty("a_from"));
});

it("offers the actions on the incidents of the drawn series below their chart", async () => {
  const asked: string[] = [];
  const incident = {
    ...{ id: 8, cluster_id: 1, cluster_name: "hpc1", kind: "worse", state: "open", owner: null },
    ...{ words: "disk: dd write −20.0 % since 11 Aug 2026", at: "2026-08-11T10:00:00Z", ended_at: null },
    ...{ series: series(3, 10), change: null, event: null, is_event_set: false, is_environment: false },
    moves: ["acknowledge", "expect", "set_cause", "ignore", "comment"],
  };
  server.use(
    http.get("*/api/v1/incidents", ({ request }) => {
      asked.push(...new URL(request.url).searchParams.getAll("series_id"));
      return listOf([incident]);
    }),
  );
  openDashboard("/clusters/1/trend?view=table&series=[3]");
  const table = within(await screen.findByRole("table", { name: "Incidents of the drawn series" }));
  const row = within(table.getByRole("row", { name: /−20\.0 %/ }));
  expect(row.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([
    ...["Acknowledge", "Expected", "Ignore", "Set cause", "Comment, owner"],
  ]);
  expect(row.getAllByRole("cell")).toHaveLength(table.getAllByRole("columnheader").length);
  expect(asked).toEqual(["3"]);
});

it("leads to the trends of all targets and clusters with the same time range", async () => {
  const from = "2026-11-01T00:00:00.000Z";
  openDashboard(`/clusters/1/trend?workload=dd&view=table&series=[3]&from=${from}`);
  const link = await screen.findByRole("link", { name: "All targets and clusters" });
  const address = new URL(link.getAttribute("href") ?? "", "http://iotide");
  expect(address.pathname).toBe("/trends");
  expect(Object.fromEntries(address.searchParams)).toEqual({ workload: "dd", from });
});

it("takes two compared time ranges along to the trends of all targets", async () => {
  const ranges = {
    ...{ a_from: "2026-10-01T00:00:00.000Z", a_to: "2026-10-31T00:00:00.000Z" },
    ...{ b_from: "2026-11-01T00:00:00.000Z", b_to: "2026-11-20T00:00:00.000Z" },
  };
  openDashboard(`/clusters/1/trend?workload=dd&view=table&series=[3]&${new URLSearchParams(ranges)}`);
  const link = await screen.findByRole("link", { name: "All targets and clusters" });
  const address = new URL(link.getAttribute("href") ?? "", "http://iotide");
  expect(Object.fromEntries(address.searchParams)).toEqual({ workload: "dd", ...ranges });
});
