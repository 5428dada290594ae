import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Cluster } from "@/api/types";
import { renderWithApp } from "@/testing/render";
import { OriginBadge, OriginProvider } from "./Origin";

it("marks a made-up cluster with a word, and no other", () => {
  const clusters = [
    { id: 1, origin: "own" },
    { id: 2, origin: "made_up" },
  ] as Cluster[];
  renderWithApp(
    <OriginProvider clusters={clusters}>
      <p>
        mine <OriginBadge clusterId={1} />
      </p>
      <p>
        demo <OriginBadge clusterId={2} />
      </p>
    </OriginProvider>,
  );
  expect(screen.getAllByText("made up")).toHaveLength(1);
  expect(screen.getByText("made up").closest("p")).toHaveTextContent("demo");
});
