import { describe, expect, it } from "vitest";
import { canSweep, type Field, problemOf, problemsOf, readFields, toPlan, valueText } from "./schema";

const SCHEMA = {
  type: "object",
  required: ["pattern"],
  $defs: { Direct: { enum: ["auto", "never"], type: "string", title: "Direct" } },
  properties: {
    pattern: { enum: ["write", "read"], type: "string", title: "Pattern" },
    file_size_bytes: {
      type: "integer",
      minimum: 1,
      "x-unit": "bytes",
      default: 67_108_864,
      title: "File size",
    },
    jobs: { type: "integer", minimum: 1, maximum: 256, default: 1 },
    rate_bytes_per_second: {
      type: "integer",
      minimum: 1_000_000,
      "x-unit": "bytes_per_second",
      default: 128_000_000,
    },
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
  },
};
const fields = new Map(readFields(SCHEMA).map((field) => [field.name, field]));

function field(name: string): Field {
  const found = fields.get(name);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

it("keeps the order of the schema and tells each kind of option", () => {
  expect([...fields.values()].map(({ name, kind }) => [name, kind])).toEqual([
    ["pattern", "choice"],
    ["file_size_bytes", "integer"],
    ["jobs", "integer"],
    ["rate_bytes_per_second", "integer"],
    ["share", "number"],
    ["fsync", "boolean"],
    ["direct", "choice"],
    ["limit_seconds", "number"],
    ["operations", "choices"],
    ["note", "text"],
  ]);
});

it("follows references and unions with null", () => {
  expect(field("direct")).toMatchObject({
    title: "Direct I/O",
    choices: ["auto", "never"],
    defaultValue: "auto",
  });
  expect(field("limit_seconds")).toMatchObject({ isNullable: true, unit: "seconds", exclusiveMinimum: 0 });
  expect(field("operations").choices).toEqual(["write", "read"]);
});

it("takes a rate in bits and shows it so", () => {
  const rate = field("rate_bytes_per_second");
  expect(valueText(rate, 512_000_000)).toBe("4096 Mbit/s");
  expect(problemOf(rate, "4 Gbit/s")).toBeNull();
  expect(problemOf(rate, "4 Mbit/s")).toBe("At least 8 Mbit/s.");
  expect(problemOf(rate, "4 Mb/s")).toMatch(/Mbit\/s/);
});

it("shows a size in the largest exact unit", () => {
  expect(valueText(field("file_size_bytes"), 67_108_864)).toBe("64 MiB");
  expect(valueText(field("limit_seconds"), null)).toBe("");
});

it("sends numbers as numbers and keeps a text with a unit as it was typed", () => {
  const form = {
    options: { file_size_bytes: " 64 MiB ", share: "0.50", note: "12", fsync: false },
    sweep: { jobs: ["1", "4"], limit_seconds: ["90", "10 min"] },
  };
  expect(toPlan([...fields.values()], form)).toEqual({
    options: { file_size_bytes: "64 MiB", share: 0.5, note: "12", fsync: false },
    sweep: { jobs: [1, 4], limit_seconds: [90, "10 min"] },
  });
});

describe("problemOf", () => {
  it.each([
    ["file_size_bytes", "64 MiB"],
    ["file_size_bytes", undefined],
    ["limit_seconds", "10 min"],
    ["limit_seconds", null],
    ["jobs", 256],
    ["note", ""],
    ["operations", ["read"]],
    ["pattern", "write"],
  ])("accepts %s = %j", (name, value) => {
    expect(problemOf(field(name), value)).toBeNull();
  });

  it.each([
    ["file_size_bytes", "64 M", /KiB, MiB/],
    ["file_size_bytes", "0", /At least 1/],
    ["file_size_bytes", "", /Give a value/],
    ["jobs", 257, /At most 256/],
    ["jobs", 1.5, /whole number/],
    ["jobs", "many", /Give a number/],
    ["share", 0, /More than 0/],
    ["limit_seconds", "0 s", /More than 0/],
    ["operations", [], /at least one/],
    ["pattern", undefined, /no default/],
  ])("refuses %s = %j", (name, value, reason) => {
    expect(problemOf(field(name), value)).toMatch(reason);
  });
});

it("checks each value of a sweep, and wants at least one", () => {
  const all = [...fields.values()];
  const sweep = { file_size_bytes: ["64 MiB", "1 GiB"], pattern: ["write", "read"] };
  expect(problemsOf(all, { options: {}, sweep })).toEqual({});
  expect(
    problemsOf(all, { options: {}, sweep: { ...sweep, file_size_bytes: ["64 MiB", "x"], jobs: [] } }),
  ).toEqual({
    file_size_bytes: expect.stringContaining("“x” is not a size"),
    jobs: "Give at least one value.",
  });
});

it("sweeps over scalar options only", () => {
  expect(canSweep(field("jobs"))).toBe(true);
  expect(canSweep(field("operations"))).toBe(false);
});
