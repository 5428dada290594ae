import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { http } from "msw";
import { beforeEach, expect, it } from "vitest";

const NO_RUNS = { waiting: 0, active: 0, finished: 0, failed: 0, cancelled: 0 };

function campaign(id: number, name: string, changes: object = {}) {
  return {
    ...{ id, name, cluster_id: 1, cluster_name: "hpc1", owner: null, schedule_id: null, schedule_name: null },
    ...{ plan: null, state: "finished", created_at: "2026-11-21T10:00:00Z", ended_at: null, stages: [] },
    ...{
      counts: { ...NO_RUNS, finished: 4 },
      preparations: [],
      additions: [],
      adaptive: null,
      next_release_at: null,
    },
    ...{ progress: 1, seconds_remaining_estimated: 0 },
    ...changes,
  };
}

const OF_SCHEDULE = { schedule_id: 3, schedule_name: "nightly" };
const NIGHTS = [12, 11, 10].map((id) => campaign(id, "night", OF_SCHEDULE));
const NIGHTLY = { id: 3, name: "nightly", campaign_count: 180, recent_states: { finished: 19, failed: 1 } };
const ACTIVE = campaign(9, "by-hand", {
  ...{ owner: "grace", state: "active", counts: { ...NO_RUNS, finished: 1, active: 1, waiting: 2 } },
  ...{ progress: 0.3 },
});
const HEADLINE = {
  ...{ campaign_id: 12, ordinal: 1, series_id: 5, workload: "dd", target_names: ["scratch"] },
  ...{ metric: "throughput", title: "Throughput", unit: "bytes_per_second", better: "higher" },
  ...{ labels: { operation: "write" }, n: 4, median: 1.2e9, low: 1.1e9, high: 1.3e9, flags: [] },
  ...{ usual_flags: [], previous: { campaign_id: 11, median: 1.25e9, n: 4, ratio: 0.96 } },
};

let asked: string[];

beforeEach(() => {
  asked = [];
  const remember = ({ request }: { request: Request }) => {
    const { pathname, searchParams } = new URL(request.url);
    searchParams.delete("limit");
    asked.push(`${pathname.replace("/api/v1/", "")}?${searchParams}`);
  };
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/campaigns", (info) => {
      remember(info);
      return listOf(NIGHTS);
    }),
    http.get("*/api/v1/campaign-groups", (info) => {
      remember(info);
      return listOf([
        { newest: NIGHTS[0], schedule: NIGHTLY },
        { newest: ACTIVE, schedule: null },
      ]);
    }),
    http.get("*/api/v1/campaign-headlines", (info) => {
      remember(info);
      return listOf([HEADLINE]);
    }),
  );
});

async function openList(address = "/campaigns") {
  const opened = openDashboard(address);
  const table = within(await screen.findByRole("table", { name: "Campaigns" }));
  return { ...opened, table };
}

it("shows a schedule as one row with its number of campaigns and their states", async () => {
  const { table } = await openList();
  const row = table.getByRole("link", { name: "nightly" }).closest("tr");
  expect(row).toHaveTextContent("schedule, 180 campaigns");
  expect(row).toHaveTextContent("newest 20: 19 finished, 1 failed");
  expect(table.getAllByRole("row")).toHaveLength(3);
});

it("folds out the campaigns of a schedule and keeps that in the address", async () => {
  const { table, user, router } = await openList();
  await user.click(table.getByRole("button", { name: "Show the campaigns of nightly" }));
  expect(await table.findAllByRole("link", { name: "night" })).toHaveLength(3);
  expect(asked).toContain("campaigns?schedule_id=3");
  expect(router.state.location.search).toEqual({ open: [3] });
  await user.click(table.getByRole("button", { name: "Hide the campaigns of nightly" }));
  await waitFor(() => expect(table.queryByRole("link", { name: "night" })).not.toBeInTheDocument());
  expect(router.state.location.search).toEqual({});
});

it("shows the main result with its range and count, and the ratio to the previous campaign", async () => {
  const { table } = await openList();
  const value = await table.findByText("1.2 GB/s");
  const row = value.closest("tr");
  expect(row).toHaveTextContent("write");
  expect(row).toHaveTextContent("4 runs, 1.1 GB/s to 1.3 GB/s, scratch");
  expect(row).toHaveTextContent("ratio 0.960");
  expect(within(row as HTMLElement).getByRole("link", { name: "campaign 11" })).toBeInTheDocument();
  expect(asked).toContain("campaign-headlines?campaign_id=12");
});

it("has a progress bar only for campaigns that have not ended", async () => {
  const { table } = await openList("/campaigns?flat=true");
  expect(table.queryByLabelText(/^Progress of campaign/)).not.toBeInTheDocument();
  expect(table.getAllByText("4 runs").length).toBe(3);
});

it("shows the progress of a running campaign", async () => {
  const { table } = await openList();
  expect(table.getByLabelText("Progress of campaign by-hand")).toBeInTheDocument();
  expect(table.getByText("1 of 4 runs ended")).toBeInTheDocument();
});

it("has a column of owners only if a campaign has one", async () => {
  const grouped = await openList();
  expect(grouped.table.getByRole("columnheader", { name: "Owner" })).toBeInTheDocument();
  grouped.unmount();
  const { table } = await openList("/campaigns?flat=true");
  expect(table.queryByRole("columnheader", { name: "Owner" })).not.toBeInTheDocument();
});

it("sends every filter of the address to the server", async () => {
  await openList("/campaigns?text=night&cluster=1&state=finished&schedule=3&owner=grace&sort=name");
  const [request] = asked.filter((one) => one.startsWith("campaigns?"));
  expect(Object.fromEntries(new URLSearchParams(request?.split("?")[1]))).toEqual({
    ...{ text: "night", cluster_id: "1", state: "finished", schedule_id: "3", owner: "grace", sort: "name" },
  });
});

it("searches by name and orders on the server, with both in the address", async () => {
  const { user, router } = await openList();
  await user.type(screen.getByRole("textbox", { name: "Search campaigns" }), "night");
  await waitFor(() => expect(asked).toContain("campaign-groups?text=night"));
  await user.selectOptions(screen.getByRole("combobox", { name: "Order" }), "By name");
  await waitFor(() => expect(asked).toContain("campaign-groups?text=night&sort=name"));
  expect(router.state.location.search).toEqual({ text: "night", sort: "name" });
});

it("explains an empty list, and differently if a filter is set", async () => {
  server.use(
    http.get("*/api/v1/campaign-groups", () => listOf([])),
    http.get("*/api/v1/campaigns", () => listOf([])),
  );
  const { unmount } = openDashboard("/campaigns");
  expect(await screen.findByText(/No campaigns yet/)).toBeInTheDocument();
  unmount();
  openDashboard("/campaigns?state=failed");
  expect(await screen.findByText(/No campaigns match/)).toBeInTheDocument();
});
