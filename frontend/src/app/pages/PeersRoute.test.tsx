import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";

const PEER = {
  n: 6,
  median: 200e6,
  difference_ratio: 0.01,
  robust_z: 0.3,
  p_value: 0.6,
  is_odd: false,
  words: "",
};
const ODD = { difference_ratio: -0.23, robust_z: -9.1, p_value: 0.0001, is_odd: true };
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
  members: [
    { ...PEER, ...ODD, name: "raid3", series_id: 3, median: 154e6, words: "odd: 23.0 % lower, worse" },
    { ...PEER, name: "raid1", series_id: 1 },
  ],
};

it("shows the odd one first with how far it is from the others, and who has too few runs", async () => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/clusters/1/peers", () =>
      HttpResponse.json({ cluster_id: 1, groups: [GROUP], left_out: 2 }),
    ),
  );
  openDashboard("/peers");
  await screen.findByRole("heading", { name: "Peers of hpc1" });
  const table = within(await screen.findByRole("table", { name: /^Peers of dd: Throughput/ }));
  const [, odd] = table.getAllByRole("row");
  expect(odd).toHaveTextContent("raid3154 MB/s6−23.0 %-9.10.0001odd: 23.0 % lower, worse");
  expect(screen.getByText(/Fewer than four runs: raid4/)).toBeInTheDocument();
  expect(screen.getByText(/2 more groups are not shown/)).toBeInTheDocument();
});
