import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const CAMPAIGN = {
  id: 9,
  name: "nightly",
  cluster_id: 1,
  cluster_name: "hpc1",
  owner: "grace",
  plan: { note: "", workloads: [], targets: ["gpfs", "nfs"] },
  state: "finished",
  created_at: "2026-11-21T10:00:00Z",
  counts: { waiting: 0, active: 0, finished: 8, failed: 0, cancelled: 0 },
  preparations: [],
  stages: [],
  progress: 1,
  seconds_remaining_estimated: null,
};
const TARGET = {
  id: 3,
  name: "scratch",
  cluster_id: 1,
  scope: "node",
  mounts: [],
  backed_by: [],
  stuck: [],
  drain: null,
};

const STRIPES = {
  code: "stripe_misaligned",
  severity: "medium",
  subjects: ["n1", "n2", "n3", "n4", "n5", "n6"].map((node) => `scratch on ${node}`),
  title: "xfs does not fit the stripes below it",
  explanation: "Below it lie 2 data disks.",
  evidence: [
    { name: "md.chunk_bytes", value: 65_536, unit: "bytes", run_ids: [71, 72, 73, 74, 75, 76] },
    { name: "device.stack", value: "md raid5 / 3 x disk", unit: null, run_ids: [] },
  ],
  remedy: "Make the file system anew.",
  commands: ["mkfs.xfs -d su=65536,sw=2 /dev/md5"],
  source: "xfs(5)",
};
const NONE = { advice: [], not_known: [], looked_at: [], places: 1, cells: 4, is_cut: false };

beforeEach(() => {
  server.use(
    ...USUAL_ANSWERS,
    http.get("*/api/v1/campaigns/9", () => HttpResponse.json(CAMPAIGN)),
    http.get("*/api/v1/campaigns/9/measures", () => HttpResponse.json({ metrics: [], counters: [] })),
    http.get("*/api/v1/campaigns/9/cells", () => listOf([{ id: 1, ordinal: 0, results: [] }])),
    http.get("*/api/v1/targets/3", () => HttpResponse.json(TARGET)),
    http.get("*/api/v1/targets/3/facts", () =>
      HttpResponse.json({ places: [], backing: [], suggested_backing: [] }),
    ),
  );
});

it("shows advice with its evidence, its runs and a remedy to copy", async () => {
  server.use(http.get("*/api/v1/targets/3/advice", () => HttpResponse.json({ ...NONE, advice: [STRIPES] })));
  const { user } = openDashboard("/targets/3");
  const card = within(await screen.findByRole("article", { name: STRIPES.title }));
  expect(
    card.getByText("scratch on n1, scratch on n2, scratch on n3, scratch on n4 and 2 more"),
  ).toBeVisible();
  await user.click(card.getByText("Evidence (2)"));
  expect(card.getByText("64 KiB")).toBeInTheDocument();
  expect(card.getByRole("link", { name: "run 71" })).toHaveAttribute("href", "/runs/71");
  expect(card.getByText("and 2 more")).toBeInTheDocument();
  expect(card.getByText("Source of the rule: xfs(5)")).toBeInTheDocument();
  await user.click(card.getByRole("button", { name: `Copy ${STRIPES.commands[0]}` }));
  expect(await navigator.clipboard.readText()).toBe(STRIPES.commands[0]);
});

it("lists the checks without advice, and those that could not be performed", async () => {
  const report = {
    ...NONE,
    not_known: [{ code: "nfs_sync", subjects: ["scratch on n1"], because: "the fact nfs.sync is missing" }],
    looked_at: [
      { looks_at: "NFS transport", fine: ["scratch on n1: mounted over tcp"], advised: 0, not_known: 0 },
      { looks_at: "Ratios between targets", fine: [], advised: 0, not_known: 0 },
    ],
  };
  server.use(http.get("*/api/v1/targets/3/advice", () => HttpResponse.json(report)));
  const { user } = openDashboard("/targets/3");
  const section = within(await screen.findByRole("region", { name: "Advice" }));
  expect(
    await section.findByText(
      "No recommendations. Checked the facts of 1 mount and the results of 4 configurations.",
    ),
  ).toBeVisible();
  await user.click(section.getByText("Not checked (1)"));
  expect(section.getByText("scratch on n1: the fact nfs.sync is missing")).toBeInTheDocument();
  await user.click(section.getByText("Checks performed"));
  expect(section.getByText("scratch on n1: mounted over tcp")).toBeInTheDocument();
  expect(section.getByText("Not applicable here: Ratios between targets.")).toBeInTheDocument();
});

it("checks a claimed ratio against a campaign's numbers", async () => {
  const asked: (string | null)[] = [];
  server.use(
    http.get("*/api/v1/campaigns/9/advice", ({ request }) => {
      const claimed = new URL(request.url).searchParams.get("claimed_ratio");
      asked.push(claimed);
      const advice = claimed
        ? [{ ...STRIPES, code: "headline_ratio", title: `${claimed} times is not it` }]
        : [];
      return HttpResponse.json({ ...NONE, advice });
    }),
  );
  const { user } = openDashboard("/campaigns/9");
  await user.type(await screen.findByRole("textbox", { name: "Claim to check" }), "10");
  expect(await screen.findByRole("article", { name: "10 times is not it" })).toBeInTheDocument();
  await waitFor(() => expect(asked).toEqual([null, "10"]));
});
