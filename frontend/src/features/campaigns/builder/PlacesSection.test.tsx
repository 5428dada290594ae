import { renderWithApp } from "@testing/render";
import { screen, within } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import type { Node } from "@/api/types";
import { type Draft, EMPTY_DRAFT } from "./draft";
import { PlacesSection } from "./PlacesSection";

const NODES = ["client", "server"].map((name, id) => ({
  id,
  name,
  role: name === "server" ? "storage" : "compute",
  state: "online",
  workloads: [],
})) as unknown as Node[];
let last: Draft;

function Places() {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  last = draft;
  return <PlacesSection draft={draft} nodes={NODES} onChange={setDraft} targets={[]} />;
}

it("offers the nodes that do not load to be watched, and watches none that is chosen to load", async () => {
  const { user } = renderWithApp(<Places />);
  const loading = within(screen.getByRole("group", { name: "Nodes" }));
  expect(screen.queryByRole("group", { name: "Also watch" })).toBeNull();
  await user.click(loading.getByRole("checkbox", { name: "client" }));
  const watched = within(screen.getByRole("group", { name: "Also watch" }));
  expect(watched.queryByRole("checkbox", { name: "client" })).toBeNull();
  await user.click(watched.getByRole("checkbox", { name: "server" }));
  expect(last).toMatchObject({ nodes: ["client"], observers: ["server"] });
  await user.click(loading.getByRole("checkbox", { name: "server" }));
  expect(last).toMatchObject({ nodes: ["client", "server"], observers: [] });
});
