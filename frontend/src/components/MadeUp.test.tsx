import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Cluster } from "@/api/types";
import { renderWithApp } from "@/testing/render";
import { MadeUpBadge, MadeUpProvider } from "./MadeUp";

it("marks a made-up cluster with a word, and no other", () => {
  const clusters = [
    { id: 1, made_up: false },
    { id: 2, made_up: true },
  ] as Cluster[];
  renderWithApp(
    <MadeUpProvider clusters={clusters}>
      <p>
        mine <MadeUpBadge clusterId={1} />
      </p>
      <p>
        demo <MadeUpBadge clusterId={2} />
      </p>
    </MadeUpProvider>,
  );
  expect(screen.getAllByText("made up")).toHaveLength(1);
  expect(screen.getByText("made up").closest("p")).toHaveTextContent("demo");
});
