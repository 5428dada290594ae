import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const SAMPLE = {
  id: 1,
  run_id: 7,
  order_id: 1,
  series_id: 5,
  target_id: 3,
  target_name: "scratch",
  metric: "throughput",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: { operation: "write", file_size_bytes: 16 * 1024 ** 2 },
  superseded: null,
  value: 1.19e9,
};
const FLAG = {
  code: "DURATION",
  effect: "marked",
  measured: "14 ms",
  limit: "",
  labels: {},
  target_id: null,
};
const STEP = {
  name: "write",
  argv: ["dd", "of=x"],
  started_at: "2026-11-21T10:00:01Z",
  wall_seconds: 0.014,
  user_seconds: 0,
  system_seconds: 0.01,
  max_rss_bytes: 4096,
  exit_status: 0,
  signal: null,
};
const ORDER = { id: 1, node_id: 4, node_name: "node-1", role: "load", step_role: null, state: "ended" };
const RUN = {
  id: 7,
  campaign_id: 9,
  campaign_name: "nightly",
  cell_id: 2,
  repeat: 1,
  cluster_id: 1,
  node_names: ["node-1"],
  target_names: ["scratch"],
  variant: "",
  workload: "dd",
  options: { file_size_bytes: 16 * 1024 ** 2, direct: false },
  state: "finished",
  validity: "valid",
  flags: [FLAG],
  usual_flags: [],
  overdue: false,
  created_at: "2026-11-21T10:00:00Z",
  started_at: "2026-11-21T10:00:00Z",
  ended_at: "2026-11-21T10:00:04Z",
  reason_code: null,
  reason: null,
  attempts_made: 1,
  attempts: [
    {
      ordinal: 1,
      reason: null,
      batch_job: null,
      start_skew_seconds: null,
      orders: [{ ...ORDER, silent_since: null, outcome: "finished", steps: [STEP], foreign_load: null }],
    },
  ],
  environment: { "kernel.release": "6.1.0" },
  observations: [],
  samples: [SAMPLE, { ...SAMPLE, id: 2, value: 1.39e9, labels: { ...SAMPLE.labels, operation: "read" } }],
  readings: [],
  not_judged: [],
  waiting_because: null,
  expected_start_at: null,
  expected_start_unknown_because: null,
};

beforeEach(() => server.use(...USUAL_ANSWERS));

function pointsOf(count: number) {
  const at = Array.from({ length: count }, (_, place) => `2026-11-0${place + 1}T10:00:00Z`);
  const each = (value: unknown) => at.map(() => value);
  return {
    series: { ...SAMPLE, id: 5 },
    at,
    ...{ left_out: 0, median: each(1e9), low: each(1e9), high: each(1e9), n: each(1), flags: each([]) },
    ...{ variation_ratio: each(null), robust_spread_ratio: each(null), usual_flags: each([]) },
    ...{ cell_id: each(1), campaign_id: each(9), gaps: [], failures: [], gap_missing_days: 0 },
  };
}

function answerWith(run: object, points = pointsOf(1)) {
  server.use(
    http.get("*/api/v1/runs/7", () => HttpResponse.json({ ...RUN, ...run })),
    http.get("*/api/v1/runs/7/artefacts", () => listOf([])),
    http.get("*/api/v1/series/5/points", () => HttpResponse.json(points)),
    http.get("*/api/v1/series/5/analysis", () =>
      HttpResponse.json({
        series_id: 5,
        course: "too_short",
        changes: [],
        events: [],
        drift: null,
        suspect: null,
      }),
    ),
  );
}

it("opens with one line: what was measured, and how far to trust it", async () => {
  answerWith({});
  openDashboard("/runs/7");
  expect(await screen.findByText(/^Wrote 16 MiB at 1.19 GB\/s and read it at 1.39 GB\/s/)).toHaveTextContent(
    /; too short to trust$/,
  );
  expect(screen.getByText("4 s")).toBeVisible();
});

it("folds commands, curves and environment, and says in their titles what is inside", async () => {
  answerWith({});
  const { user } = openDashboard("/runs/7");
  const commands = await screen.findByRole("region", { name: "Commands and raw output" });
  expect(within(commands).getByText("1 command")).toBeVisible();
  expect(within(commands).queryByText(/of=x/)).not.toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Commands and raw output" }));
  expect(within(commands).getByText(/of=x/)).toBeVisible();
  expect(screen.getByText("none: the benchmark ran for only 14 ms")).toBeVisible();
  expect(screen.queryByRole("table", { name: "Environment" })).not.toBeInTheDocument();
});

it("says of a failed run that it failed, not how fast it was", async () => {
  answerWith({ state: "failed", samples: [], reason: "no space left", reason_code: "load_failed" });
  openDashboard("/runs/7");
  expect(await screen.findByText("Failed after 4 s; nothing was measured")).toBeVisible();
});

it.each([
  [1, 0],
  [2, 1],
])("shows the trend of a run from two points on: %i points", async (points, sections) => {
  answerWith({}, pointsOf(points));
  openDashboard("/runs/7");
  await screen.findByText(/^Wrote 16 MiB/);
  if (sections > 0) await screen.findByRole("region", { name: /^This run in the trend/ });
  expect(screen.queryAllByRole("region", { name: /^This run in the trend/ })).toHaveLength(sections);
});
