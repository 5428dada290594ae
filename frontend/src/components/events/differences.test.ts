import { expect, it } from "vitest";
import { differencesOf } from "./differences";

it("splits differences found by runs, with semicolons in values and a count of others", () => {
  const text = "kernel.release: 6.1.0-30 -> 6.1.0-35; note: a; b -> absent; and 3 more";
  expect(differencesOf({ kind: "environment", text })).toEqual([
    { what: "kernel.release", before: "6.1.0-30", after: "6.1.0-35" },
    { what: "note", before: "a; b", after: "absent" },
    { what: "and 3 more", before: null, after: null },
  ]);
});

it("keeps the text of a user", () => {
  const text = "RAID: set 2 -> set 3; rebuilt";
  expect(differencesOf({ kind: "manual", text })).toEqual([{ what: text, before: null, after: null }]);
});
