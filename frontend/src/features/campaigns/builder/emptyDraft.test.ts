import { expect, it } from "vitest";
import { EMPTY_DRAFT, emptyDraft } from "./draft";

const node = (name: string, role = "compute") => ({ name, role });

it("selects a single node or target", () => {
  const draft = emptyDraft({ nodes: [node("n1"), node("nfs", "storage")], targets: [{ name: "scratch" }] });
  expect([draft.nodes, draft.targets]).toEqual([["n1"], ["scratch"]]);
});

it("selects nothing from several or none", () => {
  expect(emptyDraft({ nodes: [node("n1"), node("n2")], targets: [] })).toEqual(EMPTY_DRAFT);
});
