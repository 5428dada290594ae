import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { DirectionBadge } from "./badges";

it("calls neither a drop that ended nor its recovery worse or better", () => {
  const ended = { direction: "worse", shift_ratio: -0.18, ended_at: "2026-09-20T10:00:00Z" } as const;
  const rise = { direction: "recovered", shift_ratio: 0.22, ended_at: null } as const;
  renderWithApp(
    <>
      <DirectionBadge change={ended} />
      <DirectionBadge change={rise} />
    </>,
  );
  expect(screen.getAllByText("recovered")).toHaveLength(2);
});

it("names the side of a change for the worse that lasts, and of one without a better side", () => {
  renderWithApp(
    <>
      <DirectionBadge change={{ direction: "worse", shift_ratio: -0.18, ended_at: null }} />
      <DirectionBadge change={{ direction: null, shift_ratio: null }} />
    </>,
  );
  expect(screen.getByText("worse")).toBeInTheDocument();
  expect(screen.getByText("higher")).toBeInTheDocument();
});
