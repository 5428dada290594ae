import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { DirectionBadge } from "./badges";

it("calls a recovered drop neither worse nor better", () => {
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

it("calls a shift that came and ended over, in either direction", () => {
  const ended = { shift_ratio: -0.18, ended_at: "2026-09-20T10:00:00Z", is_over: true } as const;
  renderWithApp(
    <>
      <DirectionBadge change={{ ...ended, direction: "worse" }} />
      <DirectionBadge change={{ ...ended, direction: null }} />
    </>,
  );
  expect(screen.getAllByText("over")).toHaveLength(2);
});

it("shows the direction of a lasting regression, and of a metric without a better side", () => {
  renderWithApp(
    <>
      <DirectionBadge change={{ direction: "worse", shift_ratio: -0.18, ended_at: null }} />
      <DirectionBadge change={{ direction: null, shift_ratio: null }} />
    </>,
  );
  expect(screen.getByText("worse")).toBeInTheDocument();
  expect(screen.getByText("higher")).toBeInTheDocument();
});
