import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

function run(id: number, value: number, target: string, likeness = "alike") {
  return {
    id,
    campaign_id: 4,
    campaign_name: "nightly",
    cluster_id: 1,
    cluster_name: "hpc1",
    cell_id: 10 + id,
    cell_ordinal: id,
    repeat: 1,
    workload: "dd",
    options: { file_size_bytes: 1024 ** 2 },
    variant: "",
    node_names: ["node-1"],
    target_names: [target],
    state: "finished",
    validity: "valid",
    flags: id === 1 ? ["CACHE_SIZE"] : [],
    usual_flags: [],
    at: "2026-11-21T10:00:00Z",
    duration_seconds: 9.5,
    headline: {
      series_id: 20 + id,
      metric: "throughput",
      title: "Throughput",
      unit: "bytes_per_second",
      better: "higher",
      labels: { operation: "write" },
      value,
    },
    likeness,
  };
}

const RUNS = [run(3, 150e6, "xfs"), run(2, 100e6, "ext4"), run(1, 10e6, "ext4", "other")];
let asked: URLSearchParams;
let views: { id: number; name: string; query: string; created_at: string }[];

beforeEach(() => {
  views = [];
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/explorer/runs", ({ request }) => {
      const params = new URL(request.url).searchParams;
      const ids = params.getAll("id").map(Number);
      if (ids.length > 0) return listOf(RUNS.filter(({ id }) => ids.includes(id)));
      asked = params;
      return listOf(params.get("text") === "nothing" ? [] : RUNS);
    }),
    http.get("*/api/v1/explorer/count", () => HttpResponse.json({ count: 3, is_at_least: false })),
    http.get("*/api/v1/explorer/sparklines", () =>
      HttpResponse.json({ items: [{ series_id: 23, cell_ids: [7, 13], medians: [1e8, 1.5e8] }] }),
    ),
    http.get("*/api/v1/explorer/views", () => HttpResponse.json({ items: views })),
    http.post("*/api/v1/explorer/views", async ({ request }) => {
      const body = (await request.json()) as { name: string; query: string };
      views = [...views, { id: views.length + 1, created_at: "2026-11-21T10:00:00Z", ...body }];
      return HttpResponse.json(views.at(-1), { status: 201 });
    }),
    http.delete("*/api/v1/explorer/views/:id", () => {
      views = [];
      return new HttpResponse(null, { status: 204 });
    }),
    http.get("*/api/v1/workloads", () => listOf([{ name: "dd", options_schema: {} }])),
  );
});

function rowOf(runId: number): HTMLElement {
  const table = within(screen.getByRole("table", { name: "Runs" }));
  const row = table.getByRole("checkbox", { name: `Pin run ${runId}` }).closest("tr");
  if (!row) throw new Error("the pin stands in no row");
  return row;
}

it("lists runs with their main values, and sorts and filters on the server", async () => {
  const { router, user } = openDashboard("/runs?workload=dd");
  await screen.findByRole("table", { name: "Runs" });
  expect(rowOf(3)).toHaveTextContent(
    /finished150 MB\/s writeddxfsFile size 1 MiB.*9\.5 sThroughput, Operation write/,
  );
  expect(within(rowOf(3)).getByRole("img", { name: /Last 2 points.*this run marked/ })).toBeInTheDocument();
  expect(rowOf(1)).toHaveTextContent("May be cached");
  expect(screen.getByText(/^3 runs, 3 loaded/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: /^Value/ }));
  await waitFor(() => expect(asked.get("sort")).toBe("highest"));
  expect(screen.getByRole("columnheader", { name: /^Value/ })).toHaveAttribute("aria-sort", "descending");
  await user.selectOptions(screen.getByRole("combobox", { name: "Flag" }), "Without flags");
  await waitFor(() => expect(asked.get("flag")).toBe("none"));
  expect(router.state.location.search).toEqual({ workload: "dd", sort: "highest", flag: "none" });
});

it("pins runs in the address, shows ratios of comparable runs, and links to their comparison", async () => {
  const { router, user } = openDashboard("/runs");
  await user.click(await screen.findByRole("checkbox", { name: "Pin run 2" }));
  await user.click(screen.getByRole("checkbox", { name: "Pin run 3" }));
  expect(router.state.location.search).toEqual({ pins: [2, 3], baseline: 2 });
  const pinned = within(await screen.findByRole("table", { name: "Pinned runs" }));
  expect(await pinned.findByText("+50.0 %")).toBeInTheDocument();
  expect(rowOf(1)).toHaveTextContent("not comparable");
  const link = screen.getByRole("link", { name: "Compare pinned" }) as HTMLAnchorElement;
  expect(new URL(link.href).searchParams.get("cells")).toBe("[12,13]");
  await user.click(pinned.getByRole("radio", { name: "Run 3 is the baseline" }));
  expect(router.state.location.search).toEqual({ pins: [2, 3], baseline: 3 });
});

it("suggests what to do if nothing is found", async () => {
  const { user } = openDashboard("/runs?text=nothing");
  expect(await screen.findByText(/No runs match/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Clear filters" }));
  expect(await screen.findByRole("table", { name: "Runs" })).toBeInTheDocument();
});

it("saves a view on the server, opens it, and undoes its removal", async () => {
  const { router, user } = openDashboard("/runs?state=failed");
  await user.click(await screen.findByRole("button", { name: "Save as view" }));
  await user.type(screen.getByRole("textbox", { name: "View name" }), "broken");
  await user.click(screen.getByRole("button", { name: "Save view" }));
  await waitFor(() => expect(router.state.location.search).toEqual({ state: "failed", view: 1 }));
  expect(views[0]?.query).toBe("state=failed");
  await user.click(await screen.findByRole("button", { name: "Remove view" }));
  await user.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(views).toHaveLength(1));
  expect(await screen.findByRole("option", { name: "broken" })).toBeInTheDocument();
});

it("draws the scaling of the runs only once it is opened, so that the page loads no charts before", async () => {
  const nodes = ["node-1", "node-2"];
  const scaled = nodes.map((_, place) => ({
    ...run(place + 1, (place + 1) * 1e8, "xfs"),
    ...{ options: { tasks: 4 }, node_names: nodes.slice(0, place + 1) },
  }));
  server.use(http.get("*/api/v1/explorer/runs", () => listOf(scaled)));
  const { user } = openDashboard("/runs");
  const title = await screen.findByRole("button", { name: /Scaling of dd over nodes and tasks/ });
  expect(screen.queryByRole("figure", { name: /^Scaling of dd/ })).not.toBeInTheDocument();
  await user.click(title);
  expect(await screen.findByRole("figure", { name: "Scaling of dd: Throughput" })).toBeInTheDocument();
});
