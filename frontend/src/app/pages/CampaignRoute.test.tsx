import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
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
    plan: { note: "", workloads: [] },
    state,
    created_at: "2026-11-21T10:00:00Z",
    counts: { ...NONE, ...counts },
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

it("leads from an ended campaign without a result to the runs that failed", async () => {
  answerWith("failed", { failed: 3 });
  const { router, user } = openDashboard("/campaigns/9");
  expect(await screen.findByText(/ended without a result: 3 failed/)).toBeInTheDocument();
  await user.click(screen.getByRole("link", { name: "See why the runs failed" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ tab: "runs", state: "failed" }));
});

it("says of a campaign that still runs when the first result is to come", async () => {
  answerWith("active", { waiting: 3 });
  openDashboard("/campaigns/9");
  expect(await screen.findByText(/the first row appears when/)).toBeInTheDocument();
});

it("asks for the progress of a campaign again while it runs, since a beat is no news of it", async () => {
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

it("says what the next run waits for, and how many wait behind it", async () => {
  answerWith("active", { active: 1, waiting: 3 });
  openDashboard("/campaigns/9");
  expect(await screen.findByText("node n1 is taken by run 12")).toBeInTheDocument();
  expect(screen.getByText(/2 more wait behind these/)).toBeInTheDocument();
});

it("adds to the cells with too few runs as many as they lack, and closes", async () => {
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

it("says once what every number of a campaign suffers from, at a row what is its own, and sets none of them in bold", async () => {
  answerWith("finished", { finished: 8 });
  const cells = [cellOf(1, 4, ["CACHE_SIZE", "DURATION"]), cellOf(2, 4, ["CACHE_SIZE", "ZEROES"])];
  server.use(http.get("*/api/v1/campaigns/9/cells", () => listOf(cells)));
  openDashboard("/campaigns/9");
  const table = await screen.findByRole("table", { name: "dd: Rate" });
  expect(screen.getByText("All numbers below: may be cached")).toBeInTheDocument();
  const texts = [...table.querySelectorAll("tbody tr")].map((row) => row.textContent);
  expect(texts[0]).toContain("too short");
  expect(texts[1]).toContain("zeroes written");
  expect(texts.join()).not.toContain("may be cached");
  expect(table.querySelector(".iotide-strong data")).toBeNull();
});

it("tries all failed runs again after saying how many, and goes on after one that is refused", async () => {
  answerWith("finished", { finished: 1, failed: 2 });
  const tried: unknown[] = [];
  server.use(
    http.get("*/api/v1/runs", ({ request }) =>
      // The page's own list of runs is a shorter one, and not what this is about.
      listOf(new URL(request.url).searchParams.get("limit") === "500" ? [{ id: 31 }, { id: 32 }] : []),
    ),
    http.post("*/api/v1/runs/:id/retry", ({ params }) => {
      tried.push(params.id);
      const error = { code: "run_stage_over", message: "its stage is over" };
      return params.id === "31" ? HttpResponse.json({ error }, { status: 409 }) : HttpResponse.json({});
    }),
  );
  const { user } = openDashboard("/campaigns/9");
  await user.click(await screen.findByRole("button", { name: "Run all failed again" }));
  await user.click(await screen.findByRole("button", { name: "Run 2 again" }));
  await waitFor(() => expect(tried).toEqual(["31", "32"]));
});
