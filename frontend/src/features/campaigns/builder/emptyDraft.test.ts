import { expect, it } from "vitest";
import { EMPTY_DRAFT, emptyDraft } from "./draft";

const node = (name: string, role = "compute") => ({ name, role });

it("chooses what is alone, since there is no choice to make", () => {
  const draft = emptyDraft({ nodes: [node("n1"), node("nfs", "storage")], targets: [{ name: "scratch" }] });
  expect([draft.nodes, draft.targets]).toEqual([["n1"], ["scratch"]]);
});

it("chooses none of several, and none of nothing", () => {
  expect(emptyDraft({ nodes: [node("n1"), node("n2")], targets: [] })).toEqual(EMPTY_DRAFT);
});
