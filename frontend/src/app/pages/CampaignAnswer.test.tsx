import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const COUNTS = { waiting: 0, active: 0, finished: 8, failed: 0, cancelled: 0 };
const TWO_TARGETS = {
  targets: ["disk", "shm"],
  nodes: ["n1"],
  workloads: [{ workload: "dd", options: { file_size_bytes: 1 } }],
};
const ONE_TARGET = { ...TWO_TARGETS, targets: ["disk"] };
const DD = {
  ...{
    id: 1,
    name: "dd",
    cluster_id: null,
    title: "dd",
    metrics: [],
    step_roles: [],
    nodes: [],
    option_defaults: {},
  },
  options_schema: {
    properties: { file_size_bytes: { "x-unit": "bytes", anyOf: [{ type: "integer" }, { const: "auto" }] } },
  },
};
const METRIC = {
  ...{
    metric: "throughput",
    title: "Throughput",
    unit: "bytes_per_second",
    better: "higher",
    description: "",
  },
  ...{ labels: { operation: "write" }, target_name: null, is_primary: true },
};
const VERDICT = {
  ...{
    reasons: [],
    verdict: "higher",
    words: "",
    runs_missing: 0,
    median_ratio: 4.8,
    ratio: 4.8,
    low: 2.9,
    high: 8.4,
  },
  ...{ p_value: 0.001, is_discovery: true, basis: "runs", basis_words: "", looks: 1 },
};

const NO_RATIO = { median_ratio: null, ratio: null, low: null, high: null, p_value: null };

let asked: URLSearchParams[] = [];

function answerWith(changes: object, verdict: object = VERDICT, single: readonly number[] = []) {
  const campaign = {
    ...{ id: 9, name: "nightly", cluster_id: 1, cluster_name: "hpc1", owner: "grace", schedule_id: null },
    ...{
      state: "finished",
      created_at: "2026-11-21T10:00:00Z",
      ended_at: "2026-11-21T11:00:00Z",
      counts: COUNTS,
      preparations: [],
    },
    ...{
      stages: [],
      additions: [],
      adaptive: null,
      progress: 1,
      previous_campaign_id: null,
      plan: TWO_TARGETS,
    },
    ...changes,
  };
  server.use(http.get("*/api/v1/campaigns/9", () => HttpResponse.json(campaign)));
  server.use(
    http.get("*/api/v1/comparison/sides", ({ request }) => {
      const wanted = new URL(request.url).searchParams;
      asked.push(wanted);
      return HttpResponse.json(sidesBy(wanted.get("by") ?? "target", verdict, single));
    }),
  );
}

/** Values of single runs by side; else four runs each. */
function sidesBy(by: string, verdict: object, single: readonly number[]) {
  const sides =
    by === "campaign" ? ["nightly (7)", "nightly (9)"] : by === "target" ? ["disk", "shm"] : [1, 2];
  const cells = sides.map((_, place) => ({
    ...{ campaign_id: 9, campaign_name: "nightly", cluster_name: "hpc1", cell_id: place + 1, ordinal: place },
    ...{ node_names: ["n1"], target_names: ["disk"], variant: "", is_alike: true },
  }));
  const numbers = sides.map((_, place) => ({
    n: single[place] ? 1 : 4,
    median: single[place] ?? 1e9,
    values: [1e9],
    run_ids: [1],
    flags: [],
    modes: null,
  }));
  const row = { workload: "dd", options: { file_size_bytes: 2 ** 26 }, cells, differences: [] };
  return {
    ...{ by, dimensions: ["target", "options.file_size_bytes"], sides, against: 0 },
    rows: [{ ...row, metrics: [{ ...METRIC, numbers, verdicts: [null, verdict] }] }],
    ...{ sides_left_out: [], rows_left_out: 0 },
  };
}

function cellOf(flags: string[], n = 4) {
  const spread = {
    variation: null,
    variation_ratio: 0.04,
    robust_spread_ratio: null,
    tier: "enough_runs",
    usual_flags: [],
  };
  const result = { ...METRIC, series_id: 1, n, median: 1.23e9, low: 1.1e9, high: 1.3e9, flags, ...spread };
  const cell = {
    id: 1,
    ordinal: 0,
    workload: "dd",
    options: {},
    runs: [],
    counted_runs: [1, 2, 3, 4],
    variant: "",
    stage: 1,
  };
  return { ...cell, node_names: ["n1"], target_names: ["disk"], adaptive: null, results: [result] };
}

beforeEach(() => {
  asked = [];
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/campaigns/9/measures", () =>
      HttpResponse.json({ metrics: [{ ...METRIC, workload: "dd", labels: ["operation"] }], counters: [] }),
    ),
    http.get("*/api/v1/campaigns/9/measurements", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/campaigns/9/cells", () => listOf([cellOf([])])),
    http.get("*/api/v1/workloads", () => listOf([DD])),
  );
});

async function answer() {
  return within(await screen.findByRole("region", { name: "Answer" }));
}

it("says first which target is faster, by how much and how sure that is", async () => {
  answerWith({});
  openDashboard("/campaigns/9");
  expect(await (await answer()).findByText("shm is 4.8x as fast as disk")).toBeInTheDocument();
  expect((await answer()).getByText(/for write \(2.9 to 8.4x; 4 runs each\)/)).toBeInTheDocument();
  expect((await answer()).getByRole("img", { name: /interval from \+190 % to \+740 %/ })).toBeInTheDocument();
  const first = screen.getByRole("region", { name: "Answer" });
  const results = screen.getByRole("region", { name: "Results" });
  expect(first.compareDocumentPosition(results)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

it("keeps another dimension of the answer in the address", async () => {
  answerWith({});
  const { router, user } = openDashboard("/campaigns/9");
  await user.selectOptions(await (await answer()).findByRole("combobox"), "By file size");
  await waitFor(() => expect(router.state.location.search).toEqual({ answer: "options.file_size_bytes" }));
  await waitFor(() => expect(asked.at(-1)?.get("by")).toBe("options.file_size_bytes"));
});

it("compares a campaign that varies nothing with the previous one of its schedule", async () => {
  answerWith({ plan: ONE_TARGET, schedule_id: 3, schedule_name: "nightly", previous_campaign_id: 7 });
  openDashboard("/campaigns/9");
  expect(
    await (await answer()).findByText("this campaign is 4.8x as fast as campaign 7"),
  ).toBeInTheDocument();
  expect(asked.map((wanted) => [wanted.getAll("campaign"), wanted.get("by")])).toEqual([
    [["7", "9"], "campaign"],
  ]);
});

it("states value, spread and runs where nothing can be compared", async () => {
  answerWith({ plan: ONE_TARGET });
  openDashboard("/campaigns/9");
  const numbers = await (await answer()).findByRole("list", { name: "Headline numbers" });
  expect(numbers).toHaveTextContent("write1.23 GB/sspread 4 %, 1.1 GB/s to 1.3 GB/s, 4 runs");
  expect(asked).toEqual([]);
});

it("marks the answer of a running campaign, below its progress", async () => {
  answerWith({ state: "active", ended_at: null, counts: { ...COUNTS, waiting: 4 } });
  openDashboard("/campaigns/9");
  expect(await (await answer()).findByText("so far")).toBeInTheDocument();
  const progress = screen.getByRole("region", { name: "Progress" });
  const card = screen.getByRole("region", { name: "Answer" });
  expect(progress.compareDocumentPosition(card)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

it("shrinks the progress of an ended campaign to a badge", async () => {
  answerWith({});
  openDashboard("/campaigns/9");
  expect(await screen.findByText("finished: 8 runs")).toBeInTheDocument();
  expect(screen.queryByRole("region", { name: "Progress" })).not.toBeInTheDocument();
});

it("states a caution of all results once, and duplicates the campaign without its cause", async () => {
  answerWith({});
  server.use(http.get("*/api/v1/campaigns/9/cells", () => listOf([cellOf(["CACHE_SIZE", "DURATION"])])));
  const { router, user } = openDashboard("/campaigns/9");
  expect(await (await answer()).findByText("All results (1): may be cached, too short")).toBeInTheDocument();
  await user.click((await answer()).getByRole("link", { name: "Duplicate with auto size" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ from: 9, with: ["auto_size"] }));
});

it("offers more repeats where no difference is shown", async () => {
  answerWith({}, { ...VERDICT, verdict: "no_difference_shown", ratio: 1.1, low: 0.64, high: 2.87 });
  const { router, user } = openDashboard("/campaigns/9");
  await (await answer()).findByText("No difference shown:");
  await user.click((await answer()).getByRole("button", { name: "Add repeats to decide" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ repeats: [] }));
});

it("states the values of single runs, the best first, and adds the repeats that a verdict needs", async () => {
  const single = { ...VERDICT, verdict: "one_run", runs_missing: 3, ...NO_RATIO };
  answerWith({}, single, [1.1e9, 1.62e9]);
  server.use(http.get("*/api/v1/campaigns/9/cells", () => listOf([cellOf([], 1)])));
  const { router, user } = openDashboard("/campaigns/9");
  const lines = within(await (await answer()).findByRole("list", { name: "Answer" })).getAllByRole(
    "listitem",
  );
  expect(lines.map(({ textContent }) => textContent)).toEqual([
    "shm wrote 64 MiB at 1.62 GB/s, disk at 1.1 GB/s ",
    "One run a configuration: differences are unknown. A verdict needs 3 more runs of each. Add 3 repeats",
  ]);
  expect((await answer()).queryByText(/fewer than 4 runs/)).not.toBeInTheDocument();
  await user.click((await answer()).getByRole("button", { name: "Add 3 repeats" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ repeats: [] }));
});

it("begins the report with the answer, and folds what is not primary out of print", async () => {
  answerWith({ plan: { ...TWO_TARGETS, repeats: 4, name: "nightly", note: "" } });
  openDashboard("/campaigns/9/report");
  expect(await screen.findByText("shm is 4.8x as fast as disk")).toBeInTheDocument();
  const headings = screen.getAllByRole("heading", { level: 2 }).map(({ textContent }) => textContent);
  expect(headings.slice(0, 4)).toEqual(["Answer", "Figures", "Results", "Setup"]);
  expect(await screen.findByRole("table", { name: "dd: Throughput" })).toBeInTheDocument();
  expect(screen.getByText("Plan").closest("details")).not.toHaveAttribute("open");
});

it("prints the comparison that the address names", async () => {
  answerWith({});
  openDashboard("/compare/report?campaigns=%5B9%5D&by=target");
  expect(
    await screen.findByRole("heading", { level: 1, name: "Comparison of disk, shm" }),
  ).toBeInTheDocument();
  expect(screen.getByText("shm is 4.8x as fast as disk")).toBeInTheDocument();
  expect(screen.getByRole("table", { name: "Primary metrics" })).toHaveTextContent(
    "writeshm1 GB/s, 4 runs1 GB/s, 4 runs4.80 (2.90 to 8.40)",
  );
  expect(screen.getByRole("link", { name: "Back to comparison" })).toHaveAttribute(
    "href",
    "/compare?campaigns=%5B9%5D&by=target",
  );
});
