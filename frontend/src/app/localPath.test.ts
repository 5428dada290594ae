import { expect, it } from "vitest";
import { localPath } from "./localPath";

it("follows a path of this site", () => {
  expect(localPath("/campaigns/3?tab=runs")).toBe("/campaigns/3?tab=runs");
});

it.each([
  undefined,
  "https://elsewhere.example",
  "//elsewhere.example",
  "/\\elsewhere.example",
  "/\t/elsewhere.example",
  "/.//elsewhere.example",
  "/./\\elsewhere.example",
  "javascript:alert(1)",
])("goes to the overview instead of %s", (next) => {
  expect(localPath(next)).toBe("/");
});
