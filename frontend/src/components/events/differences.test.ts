import { expect, it } from "vitest";
import { differencesOf } from "./differences";

it("takes apart what runs saw, with values that hold a semicolon, and the number of others", () => {
  const text = "kernel.release: 6.1.0-30 -> 6.1.0-35; note: a; b -> absent; and 3 more";
  expect(differencesOf({ kind: "environment", text })).toEqual([
    { what: "kernel.release", before: "6.1.0-30", after: "6.1.0-35" },
    { what: "note", before: "a; b", after: "absent" },
    { what: "and 3 more", before: null, after: null },
  ]);
});

it("leaves what a person told as it is", () => {
  const text = "RAID: set 2 -> set 3; rebuilt";
  expect(differencesOf({ kind: "manual", text })).toEqual([{ what: text, before: null, after: null }]);
});
