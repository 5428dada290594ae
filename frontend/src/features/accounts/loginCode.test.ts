import { expect, it } from "vitest";
import { loginCode } from "./loginCode";

it.each([
  ["00443214c7", "ABCD-EFGH"],
  ["ffffffffff", "7777-7777"],
  ["0123456789", "AERU-KZ4J"],
])("shows %s... as the command does", (beginning, code) => {
  expect(loginCode(beginning.padEnd(64, "0"))).toBe(code);
});
