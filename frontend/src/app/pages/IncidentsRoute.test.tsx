import { notifications } from "@mantine/notifications";
import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import type { ReactElement } from "react";
import { beforeEach, expect, it, vi } from "vitest";

const SERIES = {
  id: 3,
  cluster_id: 1,
  node_names: ["node-1"],
  target_names: ["scratch"],
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
  at: "2026-08-11T10:00:00Z",
  previous_at: "2026-08-10T10:00:00Z",
  cell_id: 103,
  median_before: 100e6,
  median_after: 80e6,
  reasons: [],
  shift_ratio: -0.2,
  direction: "worse",
  ended_at: null,
  is_over: false,
  words: "20.0 % lower, worse (9 points after, 30 before)",
};
const EVENT = { id: 7, cluster_id: 1, at: CHANGE.at, text: "OST0007 out of service", told_by: null };
const INCIDENT = {
  id: 8,
  cluster_id: 1,
  cluster_name: "hpc1",
  kind: "worse",
  state: "open",
  words: "scratch: dd read and write up to −20.0 % since 11 Aug 2026, 2 series",
  at: CHANGE.at,
  ended_at: null,
  worst_ratio: -0.2,
  series_count: 2,
  series: SERIES,
  change: CHANGE,
  event: EVENT,
  is_event_set: false,
  owner: null,
  is_environment: false,
  told_at: null,
  moves: ["acknowledge", "expect", "set_cause", "ignore", "comment"],
};
const ENDED = {
  ...INCIDENT,
  id: 5,
  state: "ended",
  words: "home: old",
  moves: ["set_cause", "comment", "reopen"],
};
const DETAIL = {
  incident: INCIDENT,
  changes: [{ series: SERIES, change: CHANGE, alert_id: 12, alert_state: "untriaged" }],
  changes_left_out: 0,
  stale: [],
  actions: [
    { at: "2026-08-12T10:00:00Z", who: null, action: "confirmed", comment: "", alerts: 2 },
    { at: "2026-08-13T10:00:00Z", who: "ada", action: "comment", comment: "disk 7?", alerts: 0 },
  ],
  events: [EVENT],
};
const POINTS = {
  ...{ series: SERIES, at: ["2026-08-10T10:00:00Z", CHANGE.at], median: [100e6, 80e6] },
  ...{ gaps: [], failures: [], left_out: 0 },
};

let asked: URLSearchParams[];
let sent: unknown[];

beforeEach(() => {
  [asked, sent] = [[], []];
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/incidents", ({ request }) => {
      asked.push(new URL(request.url).searchParams);
      return listOf([INCIDENT, ENDED]);
    }),
    http.get("*/api/v1/incidents/8", () => HttpResponse.json(DETAIL)),
    http.post("*/api/v1/incidents/8/actions", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(DETAIL);
    }),
    http.get("*/api/v1/points", () => HttpResponse.json([POINTS])),
    http.get("*/api/v1/series/3/points", () => HttpResponse.json(POINTS)),
    http.get("*/api/v1/trend-events", () => listOf([EVENT, { ...EVENT, id: 9, text: "new kernel" }])),
    http.get("*/api/v1/clusters/1/nodes", () => listOf([])),
    http.get("*/api/v1/targets", () => listOf([])),
    http.get("*/api/v1/workloads", () => listOf([])),
  );
});

async function rowOf(name: RegExp): Promise<HTMLElement> {
  const table = within(await screen.findByRole("table", { name: "Incidents" }));
  return table.getByRole("row", { name });
}

it("shows each incident in one line with the trend of its worst series and its state", async () => {
  openDashboard("/incidents");
  const row = await rowOf(/read and write up to −20\.0 %/);
  expect(within(row).getByRole("link", { name: INCIDENT.words })).toHaveAttribute("href", "/incidents/8");
  expect(await within(row).findByRole("img", { name: /2 points of Throughput/ })).toBeInTheDocument();
  expect(row).toHaveTextContent(/openunassigned/);
});

it("acknowledges an incident with one click, and offers only what its state allows", async () => {
  const { user } = openDashboard("/incidents");
  const row = within(await rowOf(/read and write/));
  await user.click(row.getByRole("button", { name: "Acknowledge: incident 8" }));
  await waitFor(() => expect(sent).toEqual([{ action: "acknowledge", comment: "" }]));
  const ended = within(await rowOf(/home: old/));
  expect(ended.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([
    "Set cause",
    "Reopen",
    "Comment, owner",
  ]);
});

it("offers to undo an action, also when the incident is no longer listed", async () => {
  const notice = vi.spyOn(notifications, "show");
  const { user } = openDashboard("/incidents");
  await user.click(within(await rowOf(/read and write/)).getByRole("button", { name: "Ignore: incident 8" }));
  await waitFor(() =>
    expect(notice).toHaveBeenCalledWith(expect.objectContaining({ title: "Incident 8: ignored" })),
  );
  server.use(http.get("*/api/v1/incidents", () => listOf([ENDED])));
  const button = notice.mock.lastCall?.[0].message as ReactElement<{ onClick: () => void }>;
  button.props.onClick();
  await waitFor(() => expect(sent.at(-1)).toEqual({ action: "undo", comment: "" }));
});

it("assigns an incident to another user with a comment, from its row", async () => {
  const { user } = openDashboard("/incidents");
  const row = within(await rowOf(/read and write/));
  await user.click(row.getByRole("button", { name: "Comment, owner: incident 8" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Incident 8" }));
  await user.type(dialog.getByRole("textbox", { name: "Comment" }), "your disk");
  await user.type(dialog.getByRole("textbox", { name: "New owner" }), "grace");
  await user.click(dialog.getByRole("button", { name: "Assign" }));
  await waitFor(() =>
    expect(sent).toEqual([{ action: "acknowledge", comment: "your disk", owner: "grace" }]),
  );
  await waitFor(() => expect(screen.queryByRole("dialog", { name: "Incident 8" })).not.toBeInTheDocument());
});

it("sets another cause than the nearest event", async () => {
  const { user } = openDashboard("/incidents");
  const row = within(await rowOf(/read and write/));
  await user.click(row.getByRole("button", { name: "Set cause: incident 8" }));
  await user.click(await screen.findByRole("combobox", { name: "Event that caused the change" }));
  await user.click(await screen.findByRole("option", { name: /new kernel/ }));
  await user.click(screen.getByRole("button", { name: "Set cause" }));
  await waitFor(() => expect(sent).toEqual([{ action: "set_cause", comment: "", event_id: 9 }]));
});

it("keeps filters in the address and sends them to the server", async () => {
  const { router, user } = openDashboard("/incidents?kind=worse");
  await screen.findByRole("table", { name: "Incidents" });
  await user.selectOptions(screen.getByRole("combobox", { name: "Cluster" }), "hpc1");
  await user.selectOptions(await screen.findByRole("combobox", { name: "State" }), "expected");
  await waitFor(() =>
    expect(router.state.location.search).toEqual({ cluster: 1, state: "expected", kind: "worse" }),
  );
  await waitFor(() => expect(asked.at(-1)?.getAll("state")).toEqual(["expected"]));
  expect(asked[0]?.get("kind")).toBe("worse");
});

it.each([
  ["/changes?cluster=1&direction=worse", "/incidents", { cluster: 1, kind: "worse" }],
  ["/alerts?cluster=1&state=all", "/incidents", { cluster: 1 }],
  ["/alerts?group=8", "/incidents/8", {}],
])("leads %s to its incidents", async (address, path, search) => {
  const { router } = openDashboard(address);
  await waitFor(() => expect(router.state.location.pathname).toBe(path));
  expect(router.state.location.search).toEqual(search);
});

it("shows the series, cause and history of an incident, and takes comments", async () => {
  const { user } = openDashboard("/incidents/8");
  await screen.findByRole("heading", { name: INCIDENT.words });
  expect(screen.getByText(/OST0007 out of service \(nearest event\)/)).toBeInTheDocument();
  const series = within(screen.getByRole("table", { name: "Affected series" }));
  expect(series.getByRole("link", { name: "untriaged" })).toHaveAttribute("href", "/alerts/12");
  const [, newest, oldest] = within(screen.getByRole("table", { name: "History" })).getAllByRole("row");
  expect(newest).toHaveTextContent(/adaCommentdisk 7\?/);
  expect(oldest).toHaveTextContent(/automaticConfirmed \(2 alerts\)/);
  await user.type(screen.getByRole("textbox", { name: "Comment" }), "replaced");
  await user.click(screen.getByRole("button", { name: "Add comment" }));
  await waitFor(() => expect(sent).toEqual([{ action: "comment", comment: "replaced" }]));
});
