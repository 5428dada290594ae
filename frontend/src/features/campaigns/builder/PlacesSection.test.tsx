import { renderWithApp } from "@testing/render";
import { screen, within } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import type { Node } from "@/api/types";
import { type Draft, EMPTY_DRAFT } from "./draft";
import { ObserversSection } from "./ObserversSection";
import { PlacesSection } from "./PlacesSection";

const NODES = ["client", "server"].map((name, id) => ({
  id,
  name,
  role: name === "server" ? "storage" : "compute",
  state: "online",
  workloads: [],
})) as unknown as Node[];
let last: Draft;

function Places({ nodes = NODES }: { nodes?: Node[] }) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  last = draft;
  return (
    <>
      <PlacesSection draft={draft} nodes={nodes} onChange={setDraft} targets={[]} />
      <ObserversSection draft={draft} nodes={nodes} onChange={setDraft} />
    </>
  );
}

it("offers only nodes without load for monitoring", async () => {
  const { user } = renderWithApp(<Places />);
  const loading = within(screen.getByRole("group", { name: "Nodes" }));
  expect(screen.queryByRole("group", { name: "Also monitor (no load)" })).toBeNull();
  await user.click(loading.getByRole("checkbox", { name: "client" }));
  const watched = within(screen.getByRole("group", { name: "Also monitor (no load)" }));
  expect(watched.queryByRole("checkbox", { name: "client" })).toBeNull();
  await user.click(watched.getByRole("checkbox", { name: "server" }));
  expect(last).toMatchObject({ nodes: ["client"], observers: ["server"] });
  await user.click(loading.getByRole("checkbox", { name: "server" }));
  expect(last).toMatchObject({ nodes: ["client", "server"], observers: [] });
});

it("selects the nodes of a host list", async () => {
  const nodes = Array.from({ length: 12 }, (_, index) => ({ ...NODES[0], name: `n${index + 1}` })) as Node[];
  const { user } = renderWithApp(<Places nodes={nodes} />);
  await user.type(screen.getByRole("textbox", { name: "Filter: Nodes" }), "n[[2-3],n[[11-20]");
  await user.click(screen.getAllByRole("button", { name: "All" })[0] as HTMLElement);
  expect(last.nodes).toEqual(["n2", "n3", "n11", "n12"]);
});
