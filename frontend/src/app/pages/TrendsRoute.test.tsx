import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

function standing(id: number, target: string, state = "in_control") {
  const series = {
    id,
    cluster_id: 1,
    node_names: ["node-1"],
    target_names: [target],
    variant: "",
    workload: "dd",
    metric: "throughput",
    title: "Throughput",
    unit: "bytes_per_second",
    labels: {},
    options: {},
  };
  const since = state === "slower" ? "2026-09-07T00:00:00Z" : null;
  const words = state === "slower" ? "20.0 % lower than before" : "no significant change in 30 points";
  return { series, state, since, shift_ratio: null, words };
}

function board(series: readonly unknown[]) {
  const metrics = [
    { metric: "throughput", title: "Throughput" },
    { metric: "duration", title: "Duration" },
  ];
  return {
    workload: "dd",
    metric: "throughput",
    measured: [{ workload: "dd", metrics }],
    series,
    is_cut: false,
  };
}

function pointsOf(id: number) {
  const { series } = standing(id, "any");
  return { series, at: ["2026-11-05T10:00:00Z"], median: [id * 1e6], left_out: 0, gaps: [], failures: [] };
}

const spans: string[] = [];

beforeEach(() => {
  spans.length = 0;
  // happy-dom has no layout, in which nothing is ever scrolled into view.
  vi.stubGlobal("IntersectionObserver", undefined);
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/board/series", () =>
      HttpResponse.json(board([standing(2, "nvme", "slower"), standing(1, "home")])),
    ),
    http.get("*/api/v1/points", ({ request }) => {
      const query = new URL(request.url).searchParams;
      spans.push(`${query.get("from")} ${query.get("to")}`);
      return HttpResponse.json(query.getAll("series_id").map((id) => pointsOf(Number(id))));
    }),
  );
});

afterEach(() => vi.unstubAllGlobals());

it("shows a chart for each target, worst first, with its state and a link to the full trend", async () => {
  openDashboard("/trends");
  const links = await screen.findAllByRole("link", { name: /^hpc1 · / });
  expect(links.map(({ textContent }) => textContent)).toEqual(["hpc1 · nvme", "hpc1 · home"]);
  const address = new URL(links[0]?.getAttribute("href") ?? "", "http://iotide");
  expect(address.pathname).toBe("/clusters/1/trend");
  expect(Object.fromEntries(address.searchParams)).toEqual({
    workload: "dd",
    metric: "throughput",
    series: "[2]",
  });
  expect(screen.getByText("20.0 % lower than before since 7 Sep 2026")).toBeInTheDocument();
  expect(screen.getByRole("heading", { name: "Trends: Throughput of dd" })).toBeInTheDocument();
});

it("keeps the workload and metric that the server chose in the address", async () => {
  const { router } = openDashboard("/trends?by=node");
  await waitFor(() =>
    expect(router.state.location.search).toEqual({ by: "node", workload: "dd", metric: "throughput" }),
  );
});

it("draws each operation in its own chart, on one scale, and a file system in memory on its own", async () => {
  const read = standing(3, "home");
  const operation = (one: ReturnType<typeof standing>, name: string, last_value = 1e6) => ({
    ...one,
    series: { ...one.series, labels: { operation: name }, last_value },
  });
  const memory = operation(standing(9000, "shm"), "write");
  server.use(
    http.get("*/api/v1/board/series", () =>
      HttpResponse.json(board([operation(standing(1, "home"), "write"), operation(read, "read"), memory])),
    ),
  );
  openDashboard("/trends");
  const own = within(await screen.findByRole("region", { name: "hpc1 · shm · write" }));
  expect(await own.findByText(/own scale$/)).toBeInTheDocument();
  for (const name of ["hpc1 · home · write", "hpc1 · home · read"])
    expect(within(screen.getByRole("region", { name })).queryByText(/own scale/)).not.toBeInTheDocument();
});

it("zooms all charts when one is zoomed, keeps the range in the address, and resets it", async () => {
  const { router, user } = openDashboard("/trends");
  const figure = await screen.findByRole("figure", { name: /^Throughput, hpc1 · nvme/ });
  await waitFor(() => expect(figure.querySelector(".js-plotly-plot")).not.toBeNull());
  const detail = { "xaxis.range[0]": "2026-11-01 00:00", "xaxis.range[1]": "2026-11-10 00:00" };
  figure.querySelector(".js-plotly-plot")?.dispatchEvent(new CustomEvent("plotly_relayout", { detail }));
  await waitFor(() => expect(router.state.location.search).toHaveProperty("from"));
  const { from, to } = router.state.location.search as { from: string; to: string };
  await waitFor(() => expect(spans.at(-1)).toBe(`${from} ${to}`));
  await user.click(screen.getByRole("button", { name: /2026 ×$/ }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty("from"));
});

it("keeps a preset of the time range in the address", async () => {
  const { router, user } = openDashboard("/trends");
  await user.click(await screen.findByText("30 d"));
  await waitFor(() => expect(router.state.location.search).toHaveProperty("from"));
  expect(router.state.location.search).not.toHaveProperty("to");
});

it("shows 24 charts, and more on request", async () => {
  const many = Array.from({ length: 30 }, (_, place) => standing(place + 1, `t${place + 1}`));
  server.use(http.get("*/api/v1/board/series", () => HttpResponse.json(board(many))));
  const { user } = openDashboard("/trends");
  expect(await screen.findAllByRole("link", { name: /^hpc1 · t/ })).toHaveLength(24);
  await user.click(screen.getByRole("button", { name: "Show more, 6 left" }));
  expect(await screen.findAllByRole("link", { name: /^hpc1 · t/ })).toHaveLength(30);
});

it("says so if nothing was measured yet", async () => {
  const nothing = { workload: null, metric: null, measured: [], series: [], is_cut: false };
  server.use(http.get("*/api/v1/board/series", () => HttpResponse.json(nothing)));
  openDashboard("/trends");
  expect(await screen.findByText(/^No data points yet\./)).toBeInTheDocument();
});

it("says so if a chart has no points in the time range", async () => {
  server.use(
    http.get("*/api/v1/points", () =>
      HttpResponse.json([{ ...pointsOf(2), at: [], median: [] }, pointsOf(1)]),
    ),
  );
  openDashboard("/trends");
  const panel = within(await screen.findByRole("region", { name: "hpc1 · nvme" }));
  expect(await panel.findByText(/no points in this time range$/)).toBeInTheDocument();
});
