import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const GIB = 1024 ** 3;
const NODES = ["node01", "node02", "node03"];
const ORDERS = NODES.map((node_name, place) => ({
  ...{ id: place + 1, node_id: place + 1, node_name, role: "load", state: "ended", outcome: "finished" },
  ...{ step_role: place === 0 ? "head" : "member", silent_since: null, steps: [], foreign_load: null },
}));

let nextSample = 1;

function sample(metric: string, value: number, labels: object, unit = "bytes_per_second") {
  nextSample += 1;
  return {
    ...{ id: nextSample, run_id: 7, order_id: 1, series_id: 5, target_id: 3, target_name: "scratch" },
    ...{ metric, title: metric, unit, better: "higher", labels, superseded: null, value },
  };
}

const IOR = ["write", "read"].flatMap((operation) => [
  sample("throughput", 3e9, { operation }),
  ...NODES.map((writer, place) =>
    sample("throughput", (place === 1 ? 0.7 : 1.1) * 1e9, { operation, writer }),
  ),
  sample("first_done", 41.2, { operation }, "seconds"),
  sample("last_done", 55.5, { operation }, "seconds"),
  sample("fairness", 0.955, { operation }, "ratio"),
]);

const RUN = {
  ...{ id: 7, campaign_id: 9, campaign_name: "scaling", cell_id: 2, repeat: 1, cluster_id: 1 },
  ...{ node_names: NODES, target_names: ["scratch"], variant: "", workload: "ior", options: { tasks: 8 } },
  ...{ state: "finished", validity: "valid", flags: [], usual_flags: [], overdue: false },
  ...{ created_at: "2026-11-21T10:00:00Z", started_at: "2026-11-21T10:00:00Z" },
  ...{ ended_at: "2026-11-21T10:05:00Z", reason_code: null, reason: null, attempts_made: 1 },
  attempts: [{ ordinal: 1, reason: null, batch_job: null, start_skew_seconds: null, orders: ORDERS }],
  ...{ environment: {}, observations: [], samples: IOR, readings: [], not_judged: [] },
  ...{ waiting_because: null, expected_start_at: null, expected_start_unknown_because: null },
};

const series = { series: "io500" };
const IO500 = [
  sample("operation_rate", 9000, { operation: "mdtest-easy-write", ...series }, "operations_per_second"),
  sample("throughput", 4 * GIB, { operation: "ior-easy-write", ...series }),
  sample("duration", 301.5, { operation: "ior-easy-write", ...series }, "seconds"),
  sample("throughput", GIB, { operation: "ior-easy-write", writer: "node02", ...series }),
  sample("throughput", GIB, { operation: "ior-rnd4K-easy-read", ...series }),
  sample("mean_throughput", 2 * GIB, series),
  sample("mean_operation_rate", 8000, series, "operations_per_second"),
  sample("score", 4, series, "count"),
];
const BROKEN = {
  ...{ code: "DURATION", effect: "marked", limit: "the rules of the IO500", target_id: 3 },
  ...{ measured: "ior-easy-write: Write phase needed 290 s instead of 300 s", labels: series },
};

afterEach(() => vi.restoreAllMocks());

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/runs/7/artefacts", () =>
      listOf([
        { id: 20, name: "stdout", order_id: 1, sha256: "", size_bytes: 10 },
        { id: 21, name: "000-result.txt", order_id: 1, sha256: "", size_bytes: 5 },
        { id: 22, name: "000-find.csv", order_id: 1, sha256: "", size_bytes: 5 },
        // Of an earlier attempt.
        { id: 18, name: "000-result.txt", order_id: 9, sha256: "", size_bytes: 5 },
        { id: 19, name: "000-config.ini", order_id: 9, sha256: "", size_bytes: 5 },
      ]),
    ),
    http.get("*/api/v1/series/5/points", () => HttpResponse.json({ at: [], series: {} })),
  );
});

function openRun(run: object) {
  server.use(http.get("*/api/v1/runs/7", () => HttpResponse.json({ ...RUN, ...run })));
  return openDashboard("/runs/7");
}

function textOf(row: HTMLElement): string {
  return [...row.querySelectorAll("td")].map((cell) => cell.textContent).join(" | ");
}

function rowsOf(table: HTMLElement): string[] {
  return within(table).getAllByRole("row").slice(1).map(textOf);
}

it("names the program, its head and members, the first and last rank and the slowest node", async () => {
  openRun({});
  const section = await screen.findByRole("region", { name: "One program over all nodes" });
  expect(section).toHaveTextContent("ior ran once, on 3 nodes with 8 tasks each. node01 started it.");
  expect(within(section).getByText("node02, node03")).toBeVisible();
  expect(screen.queryByText(/^node01: /)).not.toBeInTheDocument();
  expect(rowsOf(within(section).getByRole("table", { name: "Ranks and nodes" }))).toEqual([
    "write | node02 700 MB/s | 41.2 s | 55.5 s | 0.955",
    "read | node02 700 MB/s | 41.2 s | 55.5 s | 0.955",
  ]);
});

it("has no such section for nodes that each run a program", async () => {
  const orders = ORDERS.map((order) => ({ ...order, step_role: null }));
  openRun({ attempts: [{ ...RUN.attempts[0], orders }] });
  await screen.findByRole("region", { name: "Metrics" });
  expect(screen.queryByRole("region", { name: "One program over all nodes" })).not.toBeInTheDocument();
});

it("shows the phases of the IO500 in their order, its score and why it is invalid", async () => {
  openRun({ workload: "io500", samples: IO500, flags: [BROKEN] });
  const section = await screen.findByRole("region", { name: "IO500 result" });
  expect(within(section).getByText("invalid")).toBeVisible();
  expect(screen.getByText(/^IO500 score 4\.00: 2\.15 GB\/s, 8 kop\/s/)).toHaveTextContent(
    "invalid by the rules of the IO500",
  );
  expect(within(section).getByRole("list", { name: "Why it is invalid" })).toHaveTextContent(
    "ior-easy-write: Write phase needed 290 s instead of 300 s",
  );
  const rows = rowsOf(within(section).getByRole("table", { name: "Phases of the IO500" }));
  expect(rows.map((row) => row.split(" | ")[0])).toEqual([
    "ior-easy-write",
    "mdtest-easy-write",
    "ior-rnd4K-easy-read not scored",
  ]);
  expect(rows[0]).toMatch(/4\.29 GB\/s.* \| 5 min 2 s$/);
});

it("downloads the result directory as one archive, with the names that the IO500 gave its files", async () => {
  const saved: Blob[] = [];
  const createObjectURL = (blob: Blob) => `blob:${saved.push(blob)}`;
  Object.assign(URL, { createObjectURL, revokeObjectURL: () => undefined });
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
  server.use(http.get("*/api/v1/artefacts/:id", ({ params }) => HttpResponse.text(`file ${params.id}`)));
  const { user } = openRun({ workload: "io500", samples: IO500 });
  await user.click(await screen.findByRole("button", { name: "Download result directory" }));
  await waitFor(() => expect(saved).toHaveLength(1));
  const archive = (await saved[0]?.text()) ?? "";
  expect(archive).toContain("io500-run-7/result.txt\0");
  expect(archive).toContain("file 21");
  expect(archive).toContain("io500-run-7/find.csv\0");
  for (const id of [18, 19, 20]) expect(archive).not.toContain(`file ${id}`);
});

const LIST = "System,Score,BW (GiB/s),MD (kIOP/s)\nAlpha,10,5,20\nBeta,3,1.5,6\n";

it("ranks a valid result in a list without sending the file, and names a file that is none", async () => {
  const sent: string[] = [];
  server.events.on("request:start", ({ request }) => {
    if (request.method !== "GET") sent.push(request.url);
  });
  const { user } = openRun({ workload: "io500", samples: IO500 });
  const section = await screen.findByRole("region", { name: "IO500 result" });
  expect(within(section).getByText("valid")).toBeVisible();
  const input = section.querySelector<HTMLInputElement>("input[type=file]");
  if (!input) throw new Error("no input for a file");
  await user.upload(input, new File(["a,b\n1,2\n"], "other.csv", { type: "text/csv" }));
  expect(await within(section).findByRole("alert")).toHaveTextContent(
    "other.csv has no column SCORE, BW, MD. Its columns: a, b. Choose a list of io500.org as CSV.",
  );
  // So that the browser reports the same file again once it is corrected.
  expect(input.value).toBe("");
  await user.upload(input, new File([LIST], "isc.csv", { type: "text/csv" }));
  expect(rowsOf(await within(section).findByRole("table", { name: "Rank in isc.csv" }))).toEqual([
    "Score | 4.00 | 2 of 3 | Alpha: 10.0 | Beta: 3.00",
    "Bandwidth (BW) | 2.15 GB/s | 2 of 3 | Alpha: 5.37 GB/s | Beta: 1.61 GB/s",
    "Metadata (MD) | 8 kop/s | 2 of 3 | Alpha: 20 kop/s | Beta: 6 kop/s",
  ]);
  expect(within(section).queryByRole("alert")).not.toBeInTheDocument();
  expect(sent).toEqual([]);
});

it("does not rank a run with a shorter stonewall", async () => {
  const samples = IO500.map((one) => ({ ...one, labels: { ...one.labels, series: "io500-mini" } }));
  openRun({ workload: "io500", samples });
  const section = await screen.findByRole("region", { name: "IO500 result" });
  expect(within(section).getByText(/is not compared with published scores/)).toBeVisible();
  expect(within(section).queryByRole("button", { name: "Compare with list" })).not.toBeInTheDocument();
  expect(within(section).getByText("The stonewall time is not 300 s.")).toBeVisible();
});
