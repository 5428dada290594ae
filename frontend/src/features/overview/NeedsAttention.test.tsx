import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Board } from "@/api/types";
import { NeedsAttention } from "./NeedsAttention";

const EMPTY = { clusters: [], attention: [], attention_left_out: 0 } as unknown as Board;

it("reports that the list of all clusters was cut, even without items of this cluster", () => {
  renderWithApp(
    <NeedsAttention
      board={{ ...EMPTY, attention_left_out: 3 }}
      isOfOneCluster
      renderIncidents={() => null}
    />,
  );
  expect(screen.getByText("3 more items across all clusters are not shown.")).toBeVisible();
  expect(screen.queryByRole("list")).not.toBeInTheDocument();
});

it("is hidden without problems", () => {
  renderWithApp(<NeedsAttention board={EMPTY} isOfOneCluster renderIncidents={() => null} />);
  expect(screen.queryByText("Needs attention")).not.toBeInTheDocument();
});
