import { renderWithApp } from "@testing/render";
import { screen, within } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Conduct } from "@/api/types";
import { ConductTable } from "./AsMeasured";

// Replace links, which need a router.
vi.mock("@/components/RunLinks", () => ({
  RunLinks: ({ ids }: { ids: readonly number[] }) => ids.join(", "),
}));

const conduct: Conduct = {
  runs: 24,
  cache: [
    {
      words: "page cache emptied before each read",
      runs: 22,
      run_ids: Array.from({ length: 20 }, (_, number) => 2019 + number),
    },
    { words: "only the run's own files dropped from the page cache", runs: 2, run_ids: [2041, 2042] },
  ],
  exclusivity: [{ words: "nodes reserved; no concurrent runs", runs: 24, run_ids: [2019] }],
  other_load: [],
  load_not_measured: 0,
  not_judged: [],
};

it("shows each condition with its number of runs, and names differing runs", () => {
  renderWithApp(<ConductTable found={conduct} />);
  const [, most, others, alone] = within(screen.getByRole("table")).getAllByRole("row");
  expect(most).toHaveTextContent(/page cache emptied before each read22 of 24: .* and 2 more/);
  expect(others).toHaveTextContent(/own files dropped from the page cache2 of 24: .*2041.*2042/);
  expect(alone).toHaveTextContent("nodes reserved; no concurrent runsall 24");
});
