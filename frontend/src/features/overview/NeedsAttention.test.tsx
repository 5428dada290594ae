import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
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

it("shows the open incidents of a cluster below the line that counts them", async () => {
  const item = {
    ...{ kind: "open_alerts", cluster_id: 1, words: "2 open incidents of dd", remedy: "acknowledge" },
    ...{ since: null, schedule_id: null, target_id: null, node_id: null, series: null, series_count: 0 },
  };
  const board = { ...EMPTY, clusters: [{ id: 1, name: "hpc1" }], attention: [item] } as unknown as Board;
  const asked: number[] = [];
  renderWithApp(
    <NeedsAttention
      board={board}
      isOfOneCluster
      renderIncidents={(clusterId) => {
        asked.push(clusterId);
        return <p>two incidents</p>;
      }}
    />,
  );
  const user = userEvent.setup();
  const unfold = await screen.findByRole("button", { name: "Open incidents of hpc1" });
  expect(asked).toEqual([]);
  await user.click(unfold);
  expect(screen.getByText("two incidents")).toBeVisible();
  expect(unfold).toHaveAttribute("aria-expanded", "true");
});
