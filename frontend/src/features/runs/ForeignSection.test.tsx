import { renderWithApp } from "@testing/render";
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { RunDetail } from "@/api/types";
import { ForeignSection } from "./ForeignSection";

const before = {
  seconds: 5.2,
  waited_seconds: 12.4,
  processors: 4,
  running_tasks: 1.5,
  load1: 3,
  cpu_ratio: 0.25,
  psi_cpu_ratio: 0.02,
  psi_io_ratio: null,
  disk_bytes_per_second: 2_000_000,
  network_bytes_per_second: 1000,
  sessions: 0,
  jobs: ["4711"],
  excess: "CPUs busy 25% of at most 10% of the time",
  within_seconds: 5.2,
};
const during = {
  seconds: 60,
  cpu_ratio: 0.01,
  storage_ratio: 0.125,
  storage_bytes_per_second: 5_000_000,
  network_ratio: null,
  network_bytes_per_second: null,
  psi_cpu_ratio: 0.5,
  psi_io_ratio: 0.75,
};

function runWith(foreign_load: object | null): RunDetail {
  const order = { id: 1, node_name: "n1", role: "load", foreign_load };
  return { attempts: [{ ordinal: 1, orders: [order] }] } as unknown as RunDetail;
}

it("shows other load before and during the run, and unmeasured values as unknown", () => {
  renderWithApp(<ForeignSection run={runWith({ before, during })} />);
  fireEvent.click(screen.getByRole("button", { name: "Other load on the nodes" }));
  const [, first, second] = within(screen.getByRole("table")).getAllByRole("row");
  expect(first).toHaveTextContent(/5 s before25 %2 MB\/s1 kB\/s2 %unknown/);
  expect(first).toHaveTextContent("1.5 tasks on 4 CPUs; batch jobs 4711; start delayed by 12.4 s");
  expect(second).toHaveTextContent(/of the run1 %12\.5 %, 5 MB\/sunknown50 %75 %/);
});

it("never shows a sample that was too short as one of an idle node", () => {
  renderWithApp(<ForeignSection run={runWith({ before: { ...before, seconds: 4.97 }, during: null })} />);
  fireEvent.click(screen.getByRole("button", { name: "Other load on the nodes" }));
  const [, first, second] = within(screen.getByRole("table")).getAllByRole("row");
  expect(first).toHaveTextContent(/before: not measured, 4\.9 s of 5 s(not measured){5}1\.5 tasks/);
  expect(second).toHaveTextContent("during: not measured");
});

it("shows the time range of samples between short runs", () => {
  renderWithApp(<ForeignSection run={runWith({ before: { ...before, within_seconds: 42 }, during })} />);
  fireEvent.click(screen.getByRole("button", { name: "Other load on the nodes" }));
  expect(screen.getByText("5 s within 42 s before")).toBeVisible();
});

it("is left out if no node reported other load", () => {
  renderWithApp(<ForeignSection run={runWith(null)} />);
  expect(screen.queryByText("Other load on the nodes")).not.toBeInTheDocument();
});
