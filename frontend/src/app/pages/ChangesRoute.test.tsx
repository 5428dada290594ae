import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const SERIES = {
  id: 3,
  cluster_id: 1,
  node_names: ["node-1"],
  target_names: ["disk"],
  variant: "",
  workload: "dd",
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: { operation: "write" },
  options: {},
};
const CHANGE = {
  id: 1,
  series_id: 3,
  at: "2026-11-21T10:00:00Z",
  previous_at: "2026-11-20T10:00:00Z",
  cell_id: 103,
  median_before: 100e6,
  reasons: [],
  median_after: 80e6,
  shift_ratio: -0.2,
  direction: "worse",
  p_value: 0.0000002,
  words: "20.0 % lower, worse (9 points after, 30 before)",
  confirmed_at: "2026-11-22T10:00:00Z",
};
const EVENT = { id: 7, at: "2026-11-21T09:00:00Z", text: "kernel: 6.1.0-30 -> 6.1.0-35", told_by: null };

let asked: URLSearchParams;

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/changes", ({ request }) => {
      asked = new URL(request.url).searchParams;
      return asked.get("workload") === "fio"
        ? listOf([])
        : listOf([{ series: SERIES, change: CHANGE, events: [EVENT] }]);
    }),
    http.get("*/api/v1/workloads", () => listOf(["dd", "fio"].map((name) => ({ name, options_schema: {} })))),
  );
});

it("shows each change with its date and nearby event, and links to that point of the trend", async () => {
  openDashboard("/changes");
  const table = within(await screen.findByRole("table", { name: "Changes" }));
  const [, row] = table.getAllByRole("row");
  expect(row).toHaveTextContent(/Operation write · node-1 on disk · hpc1worse\s?20\.0 % lower, worse/);
  expect(row).toHaveTextContent(/100 MB\/s80 MB\/s< 0\.0001kernel: 6\.1\.0-30 -> 6\.1\.0-35/);
  expect(row).not.toHaveTextContent("unconfirmed");
  const trend = new URL((table.getByRole("link", { name: "dd: Throughput" }) as HTMLAnchorElement).href);
  expect(trend.pathname).toBe("/clusters/1/trend");
  expect(Object.fromEntries(trend.searchParams)).toEqual({
    workload: "dd",
    metric: "throughput",
    series: "[3]",
    cell: "103",
  });
});

it("keeps filters in the address and sends them to the server", async () => {
  const { router, user } = openDashboard("/changes?direction=worse");
  await screen.findByRole("table", { name: "Changes" });
  expect(asked.get("direction")).toBe("worse");
  await user.selectOptions(screen.getByRole("combobox", { name: "Cluster" }), "hpc1");
  await user.selectOptions(await screen.findByRole("combobox", { name: "Workload" }), "fio");
  expect(await screen.findByText("No changes match.")).toBeInTheDocument();
  await user.click(screen.getByRole("switch"));
  await waitFor(() => expect(asked.get("with_unconfirmed")).toBe("true"));
  const filters = { cluster: 1, direction: "worse", workload: "fio", unconfirmed: true };
  expect(router.state.location.search).toEqual(filters);
});

it("marks unconfirmed changes, and shows only the direction of metrics without a better side", async () => {
  const change = { ...CHANGE, direction: null, confirmed_at: null };
  server.use(http.get("*/api/v1/changes", () => listOf([{ series: SERIES, change, events: [] }])));
  openDashboard("/changes?unconfirmed=true");
  const table = within(await screen.findByRole("table", { name: "Changes" }));
  expect(table.getByText("unconfirmed")).toBeInTheDocument();
  expect(table.getByText("lower")).toBeInTheDocument();
});

it("shows the five newest events near a change, and links to the trend for earlier ones", async () => {
  const events = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ ...EVENT, id, text: `switch ${id}` }));
  const change = { series: SERIES, change: CHANGE, events, events_more: 4 };
  server.use(http.get("*/api/v1/changes", () => listOf([change])));
  openDashboard("/changes");
  const table = within(await screen.findByRole("table", { name: "Changes" }));
  expect(table.getAllByText(/^switch/).map((item) => item.textContent)).toEqual(
    [3, 4, 5, 6, 7].map((id) => expect.stringContaining(`switch ${id}`)),
  );
  const earlier = table.getByRole("link", { name: "6 earlier events" });
  const trend = table.getByRole("link", { name: "dd: Throughput" });
  expect(earlier).toHaveAttribute("href", trend.getAttribute("href"));
  expect(earlier.compareDocumentPosition(table.getByText("switch 3"))).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

it("adds an event with its time and place on the trend page", async () => {
  const added: unknown[] = [];
  server.use(
    http.get("*/api/v1/clusters/1/nodes", () =>
      listOf([{ id: 1, name: "node-1", state: "online", active_orders: [] }]),
    ),
    http.get("*/api/v1/workloads", () => listOf([])),
    http.post("*/api/v1/trend-events", async ({ request }) => {
      added.push(await request.json());
      return HttpResponse.json({ id: 1 }, { status: 201 });
    }),
  );
  const { user } = openDashboard("/clusters/1/trend");
  await user.click(await screen.findByRole("button", { name: "Add event" }));
  await user.type(await screen.findByRole("textbox", { name: /What changed/ }), "RAID set 2 rebuilt");
  await user.type(screen.getByLabelText("When"), "2026-11-20T06:00");
  await user.click(screen.getByRole("combobox", { name: "Nodes" }));
  await user.click(await screen.findByRole("option", { name: "node-1" }));
  await user.click(screen.getByRole("button", { name: "Save event" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  const at = new Date("2026-11-20T06:00").toISOString();
  expect(added).toEqual([
    { cluster: "hpc1", text: "RAID set 2 rebuilt", at, nodes: ["node-1"], targets: [] },
  ]);
});
