import { expect, it } from "vitest";
import { shellCommand } from "./shell";

it("does not quote plain words", () => {
  expect(shellCommand(["dd", "if=/dev/zero", "of=/srv/x", "bs=16777216"])).toBe(
    "dd if=/dev/zero of=/srv/x bs=16777216",
  );
});

it.each([
  ["a b", "'a b'"],
  ["", "''"],
  ["$(id)", "'$(id)'"],
  ["it's", "'it'\\''s'"],
])("quotes %j", (word, expected) => {
  expect(shellCommand(["echo", word])).toBe(`echo ${expected}`);
});
