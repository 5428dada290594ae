import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { listOf, openDashboard, USUAL_ANSWERS } from "../openDashboard";

const NONE = { waiting: 0, active: 0, finished: 0, failed: 0, cancelled: 0 };

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
  );
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
