import { beforeEach, expect, it } from "vitest";
import type { Principal } from "@/api/types";
import { EMPTY_DRAFT } from "./draft";
import { draftKey, readKept } from "./keptDraft";

const KEY = "iotide draft of user 1, new";

beforeEach(() => sessionStorage.clear());

function keep(places: unknown): void {
  const choices = [{ key: 0, workload: "dd", options: {}, sweep: {}, places }];
  const stages = [{ key: 4, variant: "xfs ", pause: "" }];
  sessionStorage.setItem(KEY, JSON.stringify({ clusterId: 1, draft: { ...EMPTY_DRAFT, choices, stages } }));
}

it("restores a draft from before the other-load policy", () => {
  const { quiet: _, ...earlier } = EMPTY_DRAFT;
  sessionStorage.setItem(KEY, JSON.stringify({ clusterId: 1, draft: earlier }));
  expect(readKept(KEY)?.draft.quiet).toEqual({ policy: "flag", wait: "1 min" });
});

it.each([
  [{}, undefined],
  [{ targets: null, targets_at_once: null }, undefined],
  [
    { targets: ["disk"], targets_at_once: true },
    { nodes: null, targets: ["disk"], targets_at_once: true, stages: null },
  ],
  [{ variants: ["xfs"] }, { nodes: null, targets: null, targets_at_once: null, stages: [4] }],
  [{ stages: [4] }, { nodes: null, targets: null, targets_at_once: null, stages: [4] }],
])("has a draft again that an earlier release kept with the places %j", (places, expected) => {
  keep(places);
  expect(readKept(KEY)?.draft.choices[0]).toMatchObject({ workload: "dd", places: expected });
});

it("keeps the draft of a schedule apart from that of a duplicate of the same campaign", () => {
  const principal: Principal = { kind: "user", id: 1, name: "ann", roles: [] };
  const keys = [draftKey(principal, { from: 7 }), draftKey(principal, { from: 7, repeat: "nightly" })];
  expect(keys).toEqual(["iotide draft of user 1, from 7", "iotide draft of user 1, from 7, nightly"]);
});
