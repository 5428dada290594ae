import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";

const PEER = {
  n: 6,
  median: 200e6,
  difference_ratio: 0.01,
  campaigns: 3,
  robust_z: 0.3,
  by_campaign: [{ campaign_id: 1, difference_ratio: 0.01 }],
  is_odd: false,
  words: "",
};
const ODD = { difference_ratio: -0.23, robust_z: -9.1, is_odd: true };
const GROUP = {
  kind: "targets",
  alike: "xfs of 10.9 TiB, scope node",
  workload: "dd",
  options: {},
  metric: "write_rate",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  labels: { operation: "write" },
  too_few: ["raid4"],
  has_odd: true,
  not_judged: null,
  z_limit: 5.2,
  basis: "common_campaigns",
  basis_words: "compared within each campaign, so days do not count",
  members: [
    {
      ...PEER,
      ...ODD,
      name: "raid3",
      series_id: 3,
      median: 154e6,
      words: "outlier: 23.0 % below the median of 3 peers, worse",
    },
    { ...PEER, name: "raid1", series_id: 1 },
  ],
};

it("shows the outlier first with its distance, and peers with too few runs", async () => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/clusters/1/peers", () =>
      HttpResponse.json({ cluster_id: 1, groups: [GROUP], left_out: 2 }),
    ),
  );
  openDashboard("/peers");
  await screen.findByRole("heading", { name: "Peers of hpc1" });
  expect(await screen.findByText("Outliers: raid3")).toBeVisible();
  expect(screen.getByRole("figure", { name: /^Campaigns of dd: Throughput/ })).toBeInTheDocument();
  const table = within(screen.getByRole("table", { name: /^Peers of dd: Throughput/, hidden: true }));
  const [, odd] = table.getAllByRole("row", { hidden: true });
  expect(odd).toHaveTextContent(
    "raid3154 MB/s63−23.0 %-9.1outlier: 23.0 % below the median of 3 peers, worse",
  );
  expect(
    screen.getByText(
      /Each dot is a campaign.s median.*robust z beyond ±5.2; compared within each campaign.*Fewer than four runs to compare: raid4/,
    ),
  ).toBeInTheDocument();
  expect(screen.getByText(/2 more groups are not shown/)).toBeInTheDocument();
});
