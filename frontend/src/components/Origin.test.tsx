import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Cluster } from "@/api/types";
import { OriginBadge, OriginProvider, RowOriginBadge, SampleNote } from "./Origin";

const CLUSTERS = [
  { id: 1, name: "mine", origin: "own" },
  { id: 2, name: "demo-hpc", origin: "made_up" },
  { id: 3, name: "demo-archive", origin: "made_up" },
] as Cluster[];

it("marks only clusters with sample data", () => {
  renderWithApp(
    <OriginProvider clusters={CLUSTERS}>
      <p>
        mine <OriginBadge clusterId={1} />
      </p>
      <p>
        demo <OriginBadge clusterId={2} />
      </p>
    </OriginProvider>,
  );
  expect(screen.getAllByText("sample data")).toHaveLength(1);
  expect(screen.getByText("sample data").closest("p")).toHaveTextContent("demo");
});

it("names clusters with sample data above a list, not in its rows", () => {
  const rows = [2, 1, 2, 3, 2];
  renderWithApp(
    <OriginProvider clusters={CLUSTERS}>
      <SampleNote clusterIds={rows} />
      <RowOriginBadge clusterId={2} />
      <RowOriginBadge clusterId={3} />
    </OriginProvider>,
  );
  expect(screen.getAllByText("sample data")).toHaveLength(1);
  expect(screen.getByRole("note")).toHaveTextContent("demo-archive, demo-hpc");
});

it("shows no note above a list without sample data", () => {
  renderWithApp(
    <OriginProvider clusters={CLUSTERS}>
      <SampleNote clusterIds={[1, 1]} />
    </OriginProvider>,
  );
  expect(screen.queryByRole("note")).toBeNull();
});
