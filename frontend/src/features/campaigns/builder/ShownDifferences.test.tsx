import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { ShownDifferences } from "./ShownDifferences";

const known = {
  workload: "dd",
  scatter_source: "configurations" as const,
  scatter_runs: 24,
  rows: [{ scatter_ratio: 0.06, difference_ratio: 0.158, repeats_needed: 6 }],
};
const unknown = {
  workload: "fio",
  scatter_source: null,
  scatter_runs: 0,
  rows: [
    { scatter_ratio: 0.03, difference_ratio: 0.083, repeats_needed: 4 },
    { scatter_ratio: 0.06, difference_ratio: 0.158, repeats_needed: null },
  ],
};

it("says the difference that the repeats show, and the repeats for all numbers", () => {
  renderWithApp(<ShownDifferences power={{ repeats: 4, numbers: 12, workloads: [known] }} />);
  expect(
    screen.getByText(
      "dd: 4 repeats at its scatter of 6 % (24 runs) show differences from 15.8 % on; with 12 numbers compared, 6 are needed.",
    ),
  ).toBeVisible();
});

it("says where the scatter is from, and when the repeats suffice", () => {
  const own = { ...known, scatter_source: "workload" as const };
  renderWithApp(<ShownDifferences power={{ repeats: 6, numbers: 12, workloads: [own] }} />);
  expect(
    screen.getByText(/scatter of 6 % \(24 runs\) on this cluster show .*; also with 12 numbers compared\.$/),
  ).toBeVisible();
});

it("shows usual scatters where nothing was measured", () => {
  renderWithApp(<ShownDifferences power={{ repeats: 4, numbers: 12, workloads: [known, unknown] }} />);
  expect(screen.getByText("The scatter of fio is unknown: no runs were repeated.")).toBeVisible();
  expect(screen.getAllByRole("row").map(({ textContent }) => textContent)).toEqual([
    "ScatterDifference shownRepeats for 12 numbers",
    "3 %8.3 %4",
    "6 %15.8 %more than 1000",
  ]);
});

it("compares one number without repeats for several", () => {
  renderWithApp(<ShownDifferences power={{ repeats: 4, numbers: 1, workloads: [known] }} />);
  expect(screen.getByText(/show differences from 15.8 % on\.$/)).toBeVisible();
});

it("shows no difference below four repeats", () => {
  renderWithApp(<ShownDifferences power={{ repeats: 3, numbers: 1, workloads: [known] }} />);
  expect(screen.getByText("3 repeats show no difference; 4 or more do.")).toBeVisible();
});
