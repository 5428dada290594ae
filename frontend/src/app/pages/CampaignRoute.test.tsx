import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const NONE = { waiting: 0, active: 0, finished: 0, failed: 0, cancelled: 0 };

const QUEUE = {
  waiting: 3,
  runs: [
    {
      run_id: 17,
      node_names: ["n1"],
      target_names: ["nfs"],
      waiting_because: "node n1 is taken by run 12",
    },
  ],
};

function answerWith(state: string, counts: object) {
  const campaign = {
    id: 9,
    name: "nightly",
    cluster_id: 1,
    cluster_name: "hpc1",
    owner: "grace",
    plan: { note: "", workloads: [], targets: [] },
    state,
    created_at: "2026-11-21T10:00:00Z",
    counts: { ...NONE, ...counts },
    preparations: [],
    stages: [],
    progress: 1,
    seconds_remaining_estimated: null,
  };
  server.use(
    http.get("*/api/v1/campaigns/9", () => HttpResponse.json(campaign)),
    http.get("*/api/v1/campaigns/9/measures", () => HttpResponse.json({ metrics: [], counters: [] })),
    http.get("*/api/v1/campaigns/9/cells", () => listOf([{ id: 1, ordinal: 0, results: [] }])),
    http.get("*/api/v1/clusters/1/queue", () => HttpResponse.json(QUEUE)),
  );
  return campaign;
}

beforeEach(() => server.use(...USUAL_ANSWERS));
afterEach(() => {
  vi.useRealTimers();
  server.events.removeAllListeners();
});

it("links from an ended campaign without results to its failed runs", async () => {
  answerWith("failed", { failed: 3 });
  const { router, user } = openDashboard("/campaigns/9");
  expect(await screen.findByText(/ended without results: 3 failed/)).toBeInTheDocument();
  await user.click(screen.getByRole("link", { name: "Show failed runs" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ tab: "runs", state: "failed" }));
});

it("states when a running campaign shows its first result", async () => {
  answerWith("active", { waiting: 3 });
  openDashboard("/campaigns/9");
  expect(await screen.findByText(/The first row appears when/)).toBeInTheDocument();
});

it("shows how adaptive repeats stand, in the server's words", async () => {
  const campaign = answerWith("active", { waiting: 3 });
  const words = "1 of 2 configurations reached ±3 %, 1 is open";
  const answer = { ...campaign, adaptive: { words }, next_release_at: null };
  server.use(http.get("*/api/v1/campaigns/9", () => HttpResponse.json(answer)));
  openDashboard("/campaigns/9");
  expect(await screen.findByText(words)).toBeInTheDocument();
});

it("says why repeats ended only next to the value whose interval decided", async () => {
  answerWith("finished", { finished: 16 });
  const { results, ...cell } = cellOf(1, 16);
  const both = [...results, ...cellOf(2, 16).results];
  const adaptive = { words: "16 runs, still ±76 %", series_id: 2 };
  server.use(http.get("*/api/v1/campaigns/9/cells", () => listOf([{ ...cell, results: both, adaptive }])));
  openDashboard("/campaigns/9");
  expect(await screen.findAllByRole("link", { name: "1 B/s" })).toHaveLength(2);
  expect(screen.getAllByText(adaptive.words)).toHaveLength(1);
});

it("polls the progress of a running campaign, since heartbeats send no update", async () => {
  answerWith("active", { active: 1 });
  let questions = 0;
  server.events.on("request:start", ({ request }) => {
    if (request.url.endsWith("/campaigns/9")) questions += 1;
  });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  openDashboard("/campaigns/9");
  await expect.poll(() => questions).toBe(1);
  await expect.poll(() => screen.queryByText(/1 runs: 1 active/)).toBeInTheDocument();
  vi.advanceTimersByTime(3000);
  await expect.poll(() => questions).toBe(2);
});

it("shows why the next run waits and how many wait behind it", async () => {
  answerWith("active", { active: 1, waiting: 3 });
  openDashboard("/campaigns/9");
  expect(await screen.findByText("node n1 is taken by run 12")).toBeInTheDocument();
  expect(screen.getByText(/2 more runs are waiting/)).toBeInTheDocument();
});

it("adds the missing repeats to cells with too few runs, and closes", async () => {
  const campaign = answerWith("finished", { finished: 5 });
  const cells = [cellOf(1, 1), cellOf(2, 4)];
  server.use(
    http.get("*/api/v1/campaigns/9/cells", () => listOf(cells)),
    http.post("*/api/v1/campaigns/9/repeats", async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json(campaign);
    }),
  );
  const asked: unknown[] = [];
  const { router, user } = openDashboard("/campaigns/9?repeats=%5B%5D");
  await user.click(await screen.findByRole("button", { name: "Add 3 runs" }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty("repeats"));
  expect(asked).toEqual([{ repeats: 3, cell_ids: [1] }]);
});

function cellOf(id: number, n: number, flags: string[] = []) {
  const result = { series_id: id, metric: "rate", title: "Rate", better: "higher", unit: "bytes_per_second" };
  const spread = {
    variation: null,
    variation_ratio: null,
    robust_spread_ratio: null,
    tier: "few_runs",
    flags,
    usual_flags: [],
  };
  const numbers = { labels: {}, n, median: 1, low: 1, high: 1, ...spread };
  const place = { node_names: ["n1"], target_names: ["nfs"], variant: "", stage: 1 };
  return {
    id,
    ordinal: id,
    workload: "dd",
    options: { id },
    runs: [],
    ...place,
    results: [{ ...result, ...numbers }],
  };
}

it("states cautions above the table, and as notes of a value only those that others lack", async () => {
  answerCells([cellOf(1, 4, ["CACHE_SIZE", "DURATION"]), cellOf(2, 4, ["CACHE_SIZE", "STEADY", "ZEROES"])]);
  const table = await screen.findByRole("table", { name: "dd: Rate" });
  const note = screen.getByText("All results (2): may be cached").closest("[role=alert]");
  expect(note).toHaveTextContent("Reducible data: 1 of 2 results;");
  const texts = [...table.querySelectorAll("tbody tr")].map((row) => row.textContent);
  expect(texts[0]).not.toContain("too short");
  expect(within(table).getByTitle("reducible data, not steady")).toHaveTextContent("a, b");
  expect(screen.getByText("a: reducible data; b: not steady")).toBeInTheDocument();
  expect(texts.join()).not.toContain("may be cached");
  expect(table.querySelector(".iotide-strong data")).toBeNull();
  expect(table.querySelectorAll(".iotide-cautioned data")).toHaveLength(1);
});

it("states what the plan measures too little of once, with the spread", async () => {
  const [first, second] = [cellOf(1, 4, ["DURATION"]), cellOf(2, 4, ["CV", "DURATION"])];
  const results = second.results.map((result) => ({ ...result, variation_ratio: 0.12 }));
  answerCells([first, { ...second, results }]);
  const note = (await screen.findByText("All results (2): too short")).closest("[role=alert]");
  expect(note).toHaveTextContent("High variance: 1 of 2 results, by 12 %.");
});

function answerCells(cells: readonly object[], metrics: readonly object[] = []) {
  answerWith("finished", { finished: 8 });
  server.use(
    http.get("*/api/v1/campaigns/9/cells", () => listOf(cells)),
    http.get("*/api/v1/campaigns/9/measures", () => HttpResponse.json({ metrics, counters: [] })),
  );
  return openDashboard("/campaigns/9");
}

it("links a value to its trend, and shows its range on hover and its spread next to it", async () => {
  const cell = cellOf(1, 6);
  const results = cell.results.map((result) => ({
    ...result,
    ...{ median: 2e6, low: 1e6, high: 3e6, variation_ratio: 0.238, variation: "noisy" },
  }));
  answerCells([{ ...cell, results }]);
  const table = await screen.findByRole("table", { name: "dd: Rate" });
  const link = within(table).getByRole("link", { name: "2 MB/s" });
  expect(link).toHaveAttribute("href", expect.stringMatching(/^\/clusters\/1\/trend\?.*cell=1/));
  expect(within(table).getByText("±24 %")).toBeInTheDocument();
  expect(within(table).getByTitle(/^median of 6 runs, 1 MB\/s to 3 MB\/s; noisy/)).toBeInTheDocument();
});

it("adds repeats from a value with few runs", async () => {
  const { router, user } = answerCells([cellOf(1, 2), cellOf(2, 4)]);
  await user.click(await screen.findByRole("button", { name: /^Add repeats of Id 1/ }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ repeats: [1] }));
  expect(screen.getAllByText("2 runs")).toHaveLength(1);
});

it("marks no value if all have too few runs, as the answer says", async () => {
  answerCells([cellOf(1, 2), cellOf(2, 1)]);
  await screen.findByRole("table", { name: "dd: Rate" });
  expect(screen.getByText("2 of 2 results have fewer than 4 runs")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /^Add repeats of/ })).not.toBeInTheDocument();
});

it("shows metrics that are not primary only when asked", async () => {
  const cell = cellOf(1, 4);
  const results = ["rate", "elapsed"].flatMap((metric) =>
    cell.results.map((result) => ({ ...result, metric, title: metric })),
  );
  const metrics = [{ workload: "dd", metric: "rate", is_primary: true }];
  const { user } = answerCells([{ ...cell, results }], metrics);
  await user.click(await screen.findByText("More metrics: elapsed"));
  expect(await screen.findByRole("table", { name: "dd: elapsed" })).toBeInTheDocument();
});

it("folds rows beyond twelve, and links a matrix of sizes to its surface", async () => {
  const sizes = [1, 2, 3, 4, 5];
  const cell = cellOf(1, 4);
  const results = sizes.flatMap((file) =>
    sizes.flatMap((record) =>
      cell.results.map((result) => ({
        ...result,
        series_id: 10 * file + record,
        labels: { file_size_bytes: file, record_size_bytes: record },
      })),
    ),
  );
  const { user } = answerCells([{ ...cell, results }]);
  const table = await screen.findByRole("table", { name: "dd: Rate" });
  const surface = screen.getByRole("link", { name: "Show surface" });
  expect(surface).toHaveAttribute("href", expect.stringContaining("a=campaign-9.1"));
  expect(within(table).getAllByRole("rowheader")).toHaveLength(12);
  await user.click(screen.getByRole("button", { name: "Show all 25 rows" }));
  expect(within(table).getAllByRole("rowheader")).toHaveLength(25);
});

it("shows usual flags of a value, and those that it lacks", async () => {
  const [first, second] = [cellOf(1, 4, ["ZEROES"]), cellOf(2, 4)];
  const usual = (cell: typeof first) => ({
    ...cell,
    results: cell.results.map((result) => ({ ...result, usual_flags: ["ZEROES"] })),
  });
  answerCells([usual(first), usual(second)]);
  expect(
    await screen.findByText("a: usual here: reducible data; b: without: reducible data"),
  ).toBeInTheDocument();
});

it("retries all failed runs after confirmation, and continues after a rejected one", async () => {
  answerWith("finished", { finished: 1, failed: 2 });
  const tried: unknown[] = [];
  server.use(
    http.get("*/api/v1/runs", ({ request }) =>
      // Leave out the page's own, shorter list of runs.
      listOf(new URL(request.url).searchParams.get("limit") === "500" ? [{ id: 31 }, { id: 32 }] : []),
    ),
    http.post("*/api/v1/runs/:id/retry", ({ params }) => {
      tried.push(params.id);
      const error = { code: "run_stage_over", message: "its stage is over" };
      return params.id === "31" ? HttpResponse.json({ error }, { status: 409 }) : HttpResponse.json({});
    }),
  );
  const { user } = openDashboard("/campaigns/9");
  await user.click(await screen.findByRole("button", { name: "Retry failed runs" }));
  await user.click(await screen.findByRole("button", { name: "Retry 2 runs" }));
  await waitFor(() => expect(tried).toEqual(["31", "32"]));
});
