import forms from "@testing/forms.json";
import { describe, expect, it } from "vitest";
import { canSweep, type Field, readFields } from "./schema";

const SCHEMA = {
  type: "object",
  required: ["pattern"],
  $defs: { Direct: { enum: ["auto", "never"], type: "string", title: "Direct" } },
  properties: {
    pattern: { enum: ["write", "read"], type: "string", title: "Pattern" },
    file_size_bytes: { type: "integer", minimum: 1, "x-unit": "bytes", default: 67_108_864 },
    share: { type: "number", exclusiveMinimum: 0, default: 0.5 },
    fsync: { type: "boolean", default: true },
    direct: { $ref: "#/$defs/Direct", default: "auto", title: "Direct I/O" },
    limit_seconds: {
      anyOf: [{ type: "number", exclusiveMinimum: 0 }, { type: "null" }],
      "x-unit": "seconds",
      default: null,
    },
    operations: { type: "array", items: { enum: ["write", "read"], type: "string" }, default: ["write"] },
    note: { type: "string", default: "" },
    job_file: { type: "string", default: "", "x-multiline": true },
  },
};
const fields = new Map(readFields(SCHEMA).map((field) => [field.name, field]));

function field(name: string): Field {
  const found = fields.get(name);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

it("keeps the order of the schema and recognises each kind of option", () => {
  expect([...fields.values()].map(({ name, kind }) => [name, kind])).toEqual([
    ["pattern", "choice"],
    ["file_size_bytes", "integer"],
    ["share", "number"],
    ["fsync", "boolean"],
    ["direct", "choice"],
    ["limit_seconds", "number"],
    ["operations", "list"],
    ["note", "text"],
    ["job_file", "lines"],
  ]);
});

it("follows references and unions with null", () => {
  expect(field("direct")).toMatchObject({
    title: "Direct I/O",
    choices: ["auto", "never"],
    defaultValue: "auto",
  });
  expect(field("limit_seconds")).toMatchObject({ isNullable: true, unit: "seconds", exclusiveMinimum: 0 });
  expect(field("operations")).toMatchObject({ item: { kind: "choice", choices: ["write", "read"] } });
});

it("sweeps over neither lists nor long texts", () => {
  expect([...fields.values()].filter((each) => !canSweep(each)).map(({ name }) => name)).toEqual([
    "operations",
    "job_file",
  ]);
});

it.each(["dd", "iozone", "bonnie"] as const)("keeps the named choices of the size of %s", (name) => {
  const size = readFields(forms[name]).find((each) => each.name === "file_size_bytes");
  expect(size).toMatchObject({ kind: "integer", unit: "bytes", title: "File size", choices: ["auto"] });
  expect(size?.minimum).toBeGreaterThan(0);
});

it("reads kind and number of list entries", () => {
  const [sizes, fileSizes, depths, delays, words] = readFields(forms.lists);
  expect(sizes).toMatchObject({ kind: "list", minItems: 1, item: { kind: "integer", unit: "bytes" } });
  expect(fileSizes).toMatchObject({ kind: "list", item: { unit: "bytes", choices: ["auto"] } });
  expect(depths).toMatchObject({ minItems: 0, maxItems: 3, hasUniqueItems: true, item: { kind: "integer" } });
  expect(delays).toMatchObject({ kind: "list", isNullable: true, item: { kind: "number", unit: "seconds" } });
  expect(words).toMatchObject({ kind: "list", hasUniqueItems: false, item: { kind: "text" } });
});

describe("of a union", () => {
  it.each([
    ["a constant before the number", [{ const: "all" }, { type: "integer" }], "integer", ["all"]],
    ["constants alone", [{ enum: ["a", "b"] }, { const: 3 }, { const: "a" }], "choice", ["a", "b", 3]],
    ["a switch and a constant", [{ type: "boolean" }, { const: "auto" }], "choice", [true, false, "auto"]],
    ["a switch and nothing", [{ type: "boolean" }, { type: "null" }], "choice", [true, false]],
    ["a switch alone", [{ type: "boolean" }], "boolean", [true, false]],
    ["a union in it", [{ anyOf: [{ type: "number" }, { const: "x" }] }, { type: "null" }], "number", ["x"]],
    ["a switch and a number", [{ type: "boolean" }, { type: "integer" }], "integer", [true, false]],
    ["two kinds of numbers", [{ type: "integer" }, { type: "number" }], "number", []],
    ["a number and a list", [{ type: "integer" }, { type: "array", items: {} }], "json", []],
    [
      "a number, a text and a constant",
      [{ type: "integer" }, { type: "string" }, { const: "x" }],
      "json",
      ["x"],
    ],
    ["a tuple or nothing", [{ type: "array", prefixItems: [{}, {}] }, { type: "null" }], "json", []],
    ["a mapping", [{ type: "object" }], "json", []],
    ["a list of lists", [{ type: "array", items: { type: "array", items: {} } }], "json", []],
    ["a list and a constant", [{ type: "array", items: {} }, { const: "all" }], "list", ["all"]],
  ])("%s", (_, anyOf, kind, choices) => {
    expect(readFields({ properties: { option: { anyOf } } })).toMatchObject([{ kind, choices }]);
    expect(readFields({ properties: { option: { oneOf: anyOf } } })).toMatchObject([{ kind, choices }]);
  });

  it("reads null among constants as nullable", () => {
    const [field] = readFields({ properties: { option: { enum: ["a", null] } } });
    expect(field).toMatchObject({ kind: "choice", choices: ["a"], isNullable: true });
  });
});
