import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const CAMPAIGNS = [12, 13].map((id) => ({
  id,
  name: `nightly ${id}`,
  cluster_id: 1,
  cluster_name: "hpc1",
  state: "finished",
  plan: { nodes: ["node-1"], targets: ["ext4", "xfs"], workloads: [{ workload: "dd" }] },
  counts: { finished: 8 },
  preparations: [],
  ended_at: "2026-11-21T10:00:00Z",
}));
const CELL = {
  cell_id: 1,
  ordinal: 1,
  workload: "dd",
  options: {},
  node_names: ["node-1"],
  target_names: ["disk"],
  variant: "",
};
const VALUES = [100e6, 101e6, 99e6, 100e6];
const SURE = {
  metric: "write_rate",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: {},
  target_name: null,
  values_a: VALUES,
  values_b: VALUES.map((value) => 0.8 * value),
  median_a: 100e6,
  median_b: 80e6,
  flags: [],
  flags_a: [],
  flags_b: [],
  reasons: [],
  verdict: "lower",
  words: "B 18.0 to 22.0 % lower",
  median_ratio: 0.8,
  ratio: 0.8,
  low: 0.78,
  high: 0.82,
  p_value: 0.0286,
  is_discovery: true,
  basis: "runs",
  basis_words: "",
  looks: 1,
  modes_a: null,
  modes_b: null,
};
const NONE = { ratio: null, low: null, high: null, p_value: null, is_discovery: false };
const FEW = { ...SURE, ...NONE, values_a: [100e6, 101e6], values_b: [80e6, 81e6], verdict: "few_runs" };
const ONE = { ...FEW, median_ratio: null, values_a: [100e6], values_b: [80e6], verdict: "one_run" };
const MODES = {
  ...SURE,
  ...NONE,
  median_ratio: null,
  verdict: "two_modes",
  modes_b: { low: 50e6, low_runs: 2, high: 400e6, high_runs: 2 },
};
const OF_METRICS = {
  sure: SURE,
  few: { ...FEW, words: "2 runs: too few for an interval; 2 more needed" },
  one: { ...ONE, words: "1 run: too few to compare" },
  modes: { ...MODES, words: "two modes (cache?): no single ratio applies" },
};

function compared(isAlike: boolean) {
  const a = { campaign_id: 12, ...CELL };
  const metrics = Object.entries(OF_METRICS).map(([metric, found]) => ({ ...found, metric, title: metric }));
  const differences = isAlike ? [] : [{ name: "options.file_size_bytes", a: 1024, b: null }];
  const pair = { a, b: { ...a, campaign_id: 13 }, differences, is_alike: isAlike, metrics };
  return { pairs: [pair], only_a: [4], only_b: [] };
}

/** The tables are folded below the forest plot. */
async function openValues(user: ReturnType<typeof openDashboard>["user"]): Promise<void> {
  await user.click(await screen.findByRole("button", { name: "All values" }));
}

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/campaigns", () => listOf(CAMPAIGNS)),
    http.get("*/api/v1/campaigns/:id", ({ params }) =>
      HttpResponse.json(CAMPAIGNS.find(({ id }) => id === Number(params.id))),
    ),
    http.get("*/api/v1/campaigns/:id/cells", () => listOf([])),
  );
});

it("shows for each value only the statistics that its number of runs allows", async () => {
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(compared(true))));
  const { user } = openDashboard("/compare?a=12&b=13");
  await openValues(user);
  const table = within(await screen.findByRole("table", { name: "Metrics of 1: dd" }));
  const [, sure, few, one, modes] = table.getAllByRole("row");
  expect(sure).toHaveTextContent(/−20\.0 %−22\.0 % to −18\.0 %worse B 18\.0 to 22\.0 % lower0\.0286/);
  expect(few).toHaveTextContent(/2 runs, 100 MB\/s, 101 MB\/s.*ratio 0\.8002 runs: too few for an interval/);
  expect(one).toHaveTextContent("one100 MB/s 1 run80 MB/s 1 run1 run: too few to compare");
  expect(modes).toHaveTextContent(/50 MB\/s \(2 runs\)400 MB\/s \(2 runs\)two modes/);
  expect(screen.getByText(/Configuration 4 of A has no clear counterpart/)).toBeInTheDocument();
});

it("lists differences in setup first, and gives no verdict for them", async () => {
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(compared(false))));
  const { user } = openDashboard("/compare?a=12&b=13");
  await openValues(user);
  const differences = await screen.findByRole("table", { name: "Differences" });
  expect(differences).toHaveTextContent("File size1 KiBnone");
  const numbers = screen.getByRole("table", { name: "Metrics of 1: dd" });
  expect(differences.compareDocumentPosition(numbers)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(within(numbers).queryByText("worse")).not.toBeInTheDocument();
});

it("keeps both sides in the address and swaps them", async () => {
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(compared(true))));
  const { router, user } = openDashboard("/compare?a=12&b=13&a_cell=2");
  await user.click(await screen.findByRole("button", { name: "Swap A and B" }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ a: 13, b: 12, b_cell: 2 }));
});

const SIDE = {
  campaign_id: 12,
  campaign_name: "before",
  cluster_name: "hpc1",
  ordinal: 1,
  node_names: ["node-1"],
  variant: "",
};
const NUMBERS = {
  median: 100e6,
  values: [99e6, 100e6, 101e6, 102e6],
  run_ids: [1, 2, 3, 4],
  flags: [],
  modes: null,
};
const VERDICT = {
  reasons: [],
  verdict: "lower",
  words: "18.0 to 22.0 % lower",
  runs_missing: 0,
  median_ratio: 0.8,
  ratio: 0.8,
  low: 0.78,
  high: 0.82,
  p_value: 0.0286,
  is_discovery: true,
  basis: "runs",
  basis_words: "",
  looks: 1,
};

function sides(isAlike: boolean) {
  const cells = ["ext4", "xfs", "btrfs"].map((target, place) => ({
    ...SIDE,
    cell_id: place + 1,
    target_names: [target],
    is_alike: isAlike || place === 0,
  }));
  const few = {
    ...VERDICT,
    verdict: "few_runs",
    words: "2 runs: too few for an interval; 2 more needed",
  };
  return {
    by: "target",
    dimensions: ["target", "options.file_size_bytes"],
    sides: ["ext4", "xfs", "btrfs"],
    against: 0,
    rows: [
      {
        workload: "dd",
        options: {},
        cells,
        differences: [{ name: "node", values: ["node-1", "node-2", "node-1"] }],
        metrics: [
          {
            metric: "throughput",
            title: "Throughput",
            unit: "bytes_per_second",
            better: "higher",
            labels: {},
            target_name: null,
            numbers: [
              { ...NUMBERS, n: 4 },
              { ...NUMBERS, n: 4, median: 80e6 },
              { n: 2, median: 90e6, values: [89e6, 91e6], run_ids: [8, 9], flags: [], modes: null },
            ],
            verdicts: [null, VERDICT, { ...few, ratio: null, low: null, high: null, p_value: null }],
          },
        ],
      },
    ],
    sides_left_out: [],
    rows_left_out: 0,
  };
}

it("compares several file systems, each with the baseline", async () => {
  let asked = new URLSearchParams();
  server.use(
    http.get("*/api/v1/comparison/sides", ({ request }) => {
      asked = new URL(request.url).searchParams;
      return HttpResponse.json(sides(true));
    }),
  );
  const { router, user } = openDashboard("/compare?campaigns=%5B12%5D");
  await openValues(user);
  const table = within(await screen.findByRole("table", { name: "Verdicts" }));
  expect(table.getByRole("columnheader", { name: "ext4 (baseline)" })).toBeInTheDocument();
  const [, xfs, btrfs] = table.getAllByRole("cell");
  expect(xfs).toHaveTextContent(/80 MB\/s 4 runs.*−20\.0 %−22\.0 % to −18\.0 %worse 18\.0 to 22\.0 % lower/);
  expect(btrfs).toHaveTextContent(/2 runs: too few for an interval/);
  expect(btrfs).not.toHaveTextContent("worse");
  expect(table.getAllByRole("button")).toEqual([
    table.getByRole("button", { name: "Add repeats, 2 missing" }),
  ]);
  expect(asked.getAll("campaign")).toEqual(["12"]);
  await user.selectOptions(screen.getByRole("combobox", { name: "Compare by" }), "By file size");
  await waitFor(() =>
    expect(router.state.location.search).toEqual({ campaigns: [12], by: "options.file_size_bytes" }),
  );
});

it("lists setup differences of sides first and calls none better or worse", async () => {
  server.use(http.get("*/api/v1/comparison/sides", () => HttpResponse.json(sides(false))));
  const { user } = openDashboard("/compare?cells=%5B1%2C2%5D");
  await openValues(user);
  const verdicts = await screen.findByRole("table", { name: "Verdicts" });
  const differences = screen.getByRole("table", { name: "Differences" });
  expect(differences).toHaveTextContent("Nodesnode-1node-2node-1");
  expect(differences.compareDocumentPosition(verdicts)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(within(verdicts).queryByText("worse")).not.toBeInTheDocument();
});

it("says how often repeats were added to a side of many", async () => {
  const answer = structuredClone(sides(true));
  Object.assign(answer.rows[0]?.metrics[0]?.verdicts[1] ?? {}, { looks: 2 });
  server.use(http.get("*/api/v1/comparison/sides", () => HttpResponse.json(answer)));
  const { user } = openDashboard("/compare?campaigns=%5B12%5D");
  await openValues(user);
  const [, xfs] = within(await screen.findByRole("table", { name: "Verdicts" })).getAllByRole("cell");
  expect(xfs).toHaveTextContent(/p 0\.0286?; look 2, after repeats were added: limits are stricter$/);
});

it("offers the latest campaigns and the ways to compare them, and goes there", async () => {
  server.use(http.get("*/api/v1/comparison/sides", () => HttpResponse.json(sides(true))));
  const { router, user } = openDashboard("/compare");
  const latest = within(await screen.findByRole("table", { name: "Latest campaigns" }));
  expect(latest.getAllByRole("row")).toHaveLength(3);
  expect(screen.getByRole("button", { name: "By target" })).toBeDisabled();
  await user.click(latest.getByRole("checkbox", { name: "Compare campaign 12" }));
  expect(screen.getByRole("button", { name: "By node" })).toBeDisabled();
  expect(screen.getByText(/by node: they have one node/)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "By target" }));
  await waitFor(() => expect(router.state.location.search).toEqual({ campaigns: [12], by: "target" }));
  expect(await screen.findByRole("table", { name: "Primary metrics" })).toBeInTheDocument();
});

it("answers first: all primary metrics in one forest plot, best first", async () => {
  const answer = structuredClone(sides(true));
  const [metric] = answer.rows[0]?.metrics ?? [];
  const faster = {
    ...VERDICT,
    verdict: "higher",
    ratio: 1.5,
    low: 1.4,
    high: 1.6,
    words: "40.0 to 60.0 % higher",
  };
  answer.rows[0]?.metrics.push({
    ...structuredClone(metric as NonNullable<typeof metric>),
    title: "Read rate",
    metric: "read_rate",
    verdicts: [null, faster, null],
  } as never);
  server.use(http.get("*/api/v1/comparison/sides", () => HttpResponse.json(answer)));
  openDashboard("/compare?campaigns=%5B12%5D");
  const table = await screen.findByRole("table", { name: "Primary metrics" });
  const [, , ...rows] = within(table).getAllByRole("row");
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringMatching(/^xfs: Read rate\+50\.0 %\+40\.0 % to \+60\.0 %n 4 and 4better$/),
    expect.stringMatching(/^xfs: Throughput−20\.0 %−22\.0 % to −18\.0 %n 4 and 4worse$/),
    expect.stringMatching(/^btrfs: Throughputn 2 and 4|^btrfs: Throughputratio/),
  ]);
  expect(screen.getByText("xfs compared with ext4: 1 better, 1 worse")).toBeVisible();
  expect(screen.queryByRole("table", { name: "Verdicts" })).not.toBeInTheDocument();
});
