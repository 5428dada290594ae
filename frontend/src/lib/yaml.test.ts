import { expect, it } from "vitest";
import { toYaml } from "./yaml";

it("writes a plan in block style with short lists in one line", () => {
  const plan = {
    name: "nightly",
    nodes: ["node-a", "node-b"],
    workloads: [
      {
        workload: "dd",
        options: { operations: ["write", "read"] },
        sweep: { file_size_bytes: ["64 MiB", 4096] },
      },
    ],
    repeats: 4,
  };
  expect(toYaml(plan)).toBe(`name: nightly
nodes: [node-a, node-b]
workloads:
  - workload: dd
    options:
      operations: [write, read]
    sweep:
      file_size_bytes: ["64 MiB", 4096]
repeats: 4
`);
});

it.each([
  ["no", '"no"'],
  ["12", '"12"'],
  ["a: b", '"a: b"'],
  ["# note", '"# note"'],
  ["", '""'],
  [null, "null"],
  [true, "true"],
  [{}, "{}"],
  [[], "[]"],
  ["two\nlines", '"two\\nlines"'],
])("keeps the meaning of %j", (value, expected) => {
  expect(toYaml({ a: value })).toBe(`a: ${expected}\n`);
});
