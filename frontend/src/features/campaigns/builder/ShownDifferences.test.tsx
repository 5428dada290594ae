import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ShownDifferences } from "./ShownDifferences";

type Power = Parameters<typeof ShownDifferences>[0]["power"];

const known = {
  workload: "dd",
  scatter_source: "configurations" as const,
  scatter_runs: 24,
  rows: [{ scatter_ratio: 0.06, difference_ratio: 0.158, shared_difference_ratio: 0.204, repeats_needed: 6 }],
};
const unknown = {
  workload: "fio",
  scatter_source: null,
  scatter_runs: 0,
  rows: [
    { scatter_ratio: 0.03, difference_ratio: 0.083, shared_difference_ratio: 0.11, repeats_needed: 4 },
    { scatter_ratio: 0.06, difference_ratio: 0.158, shared_difference_ratio: 0.204, repeats_needed: null },
  ],
};

function renderPower(power: Omit<Power, "repeats_recommended">, recommended: number | null = 6) {
  const onUse = vi.fn();
  const shown = <ShownDifferences onUse={onUse} power={{ ...power, repeats_recommended: recommended }} />;
  return { ...renderWithApp(shown), onUse };
}

it("says the difference that the repeats show among all numbers, and takes the recommended number", async () => {
  const { user, onUse } = renderPower({ repeats: 4, numbers: 12, workloads: [known] });
  expect(
    screen.getByText(
      "dd: 4 repeats at your scatter of 6 % (24 runs) show differences from 20.4 % on, with 12 numbers compared.",
    ),
  ).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Use the recommended 6 repeats" }));
  expect(onUse).toHaveBeenCalledWith(6);
});

it("recommends nothing once the repeats suffice", () => {
  renderPower({ repeats: 6, numbers: 12, workloads: [known] });
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
});

it("says where the scatter is from", () => {
  const own = { ...known, scatter_source: "workload" as const };
  renderPower({ repeats: 6, numbers: 1, workloads: [own] });
  expect(
    screen.getByText(
      "dd: 6 repeats at the scatter of this cluster, 6 % (24 runs), show differences from 20.4 % on.",
    ),
  ).toBeVisible();
});

it("shows usual scatters where nothing was measured", () => {
  renderPower({ repeats: 4, numbers: 12, workloads: [known, unknown] });
  expect(screen.getByText("The scatter of fio is unknown: no runs were repeated.")).toBeVisible();
  expect(screen.getAllByRole("row").map(({ textContent }) => textContent)).toEqual([
    "ScatterDifference shown with 12 numbers compared",
    "3 %11 %",
    "6 %20.4 %",
  ]);
});

it("shows no difference below four repeats, and recommends enough", () => {
  renderPower({ repeats: 3, numbers: 1, workloads: [known] }, 4);
  expect(screen.getByText("3 repeats show no difference; 4 or more do.")).toBeVisible();
  expect(screen.getByRole("button", { name: "Use the recommended 4 repeats" })).toBeVisible();
});
