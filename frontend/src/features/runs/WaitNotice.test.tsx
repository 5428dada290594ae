import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { WaitNotice } from "./RunPage";

it("shows the reason and the expected start", () => {
  const run = {
    waiting_because: "node n1 is taken by run 7",
    expected_start_at: "2126-11-21T10:20:00Z",
    expected_start_unknown_because: null,
  };
  renderWithApp(<WaitNotice run={run} />);
  expect(screen.getByRole("alert")).toHaveTextContent(/node n1 is taken by run 7Expected start: 21 Nov 2126/);
});

it("explains an unknown start time", () => {
  const run = {
    waiting_because: "node n1 has been silent since 2026-11-21 10:00:00 UTC",
    expected_start_at: null,
    expected_start_unknown_because: "node n1: is silent",
  };
  renderWithApp(<WaitNotice run={run} />);
  expect(screen.getByRole("alert")).toHaveTextContent("Start time unknown: node n1: is silent");
});

it("shows no start time for a run that waits in a batch system", () => {
  const run = {
    waiting_because: "Slurm job 12 waits: Resources",
    expected_start_at: null,
    expected_start_unknown_because: null,
  };
  renderWithApp(<WaitNotice run={run} />);
  expect(screen.getByRole("alert")).toHaveTextContent(/Slurm job 12 waits: Resources$/);
});
