import forms from "@testing/forms.json";
import { describe, expect, it } from "vitest";
import { type Field, readFields } from "./schema";
import { choiceOf, meaningOf, problemOf, problemsOf, toPlan, valueText } from "./values";

const SCHEMA = {
  type: "object",
  required: ["pattern"],
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
    limit_seconds: {
      anyOf: [{ type: "number", exclusiveMinimum: 0 }, { type: "null" }],
      "x-unit": "seconds",
      default: null,
    },
    operations: { type: "array", items: { enum: ["write", "read"] }, minItems: 1, default: ["write"] },
    note: { type: "string", default: "" },
  },
};
const all = readFields(SCHEMA);

function field(name: string, fields = all): Field {
  const found = fields.find((each) => each.name === name);
  if (!found) throw new Error(`no field ${name}`);
  return found;
}

it("accepts a rate in bits and shows it in bits", () => {
  const rate = field("rate_bytes_per_second");
  expect(valueText(rate, 512_000_000)).toBe("4096 Mbit/s");
  expect(problemOf(rate, "4 Gbit/s")).toBeNull();
  expect(problemOf(rate, "4 Mbit/s")).toBe("Must be at least 8 Mbit/s.");
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
  expect(toPlan(all, form)).toEqual({
    options: { file_size_bytes: "64 MiB", share: 0.5, note: "12", fsync: false },
    sweep: { jobs: [1, 4], limit_seconds: [90, "10 min"] },
  });
});

it("sends null for an empty nullable option, single and swept", () => {
  const form = { options: { limit_seconds: "", note: "" }, sweep: { limit_seconds: ["", "60", null] } };
  expect(problemsOf([field("limit_seconds"), field("note")], { ...form, sweep: {} })).toEqual({});
  expect(toPlan(all, form)).toEqual({
    options: { limit_seconds: null, note: "" },
    sweep: { limit_seconds: [null, 60, null] },
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
    ["file_size_bytes", "64 Q", /KiB, MiB/],
    ["file_size_bytes", "0", /Must be at least 1/],
    ["file_size_bytes", "", /Enter a value/],
    ["jobs", 257, /Must be at most 256/],
    ["jobs", 1.5, /whole number/],
    ["jobs", "many", /Enter a number/],
    ["share", 0, /Must be more than 0/],
    ["limit_seconds", "0 s", /Must be more than 0/],
    ["operations", [], /at least one/],
    ["pattern", undefined, /no default/],
  ])("refuses %s = %j", (name, value, reason) => {
    expect(problemOf(field(name), value)).toMatch(reason);
  });
});

it("checks each value of a sweep, and requires at least one", () => {
  const sweep = { file_size_bytes: ["64 MiB", "1 GiB"], pattern: ["write", "read"] };
  expect(problemsOf(all, { options: {}, sweep })).toEqual({});
  expect(
    problemsOf(all, { options: {}, sweep: { ...sweep, file_size_bytes: ["64 MiB", "x"], jobs: [] } }),
  ).toEqual({
    file_size_bytes: expect.stringContaining("“x” is not a size"),
    jobs: "Enter at least one value.",
  });
});

describe("a typed list", () => {
  const size = field("file_size_bytes");
  const typed = (options: Record<string, unknown>) => ({ options, sweep: {} });

  it("of sizes is sent as a sweep, with bare letters as powers of 1024", () => {
    const form = typed({ file_size_bytes: "64M, 128m,1G", jobs: "1; 4" });
    expect(problemsOf([size, field("jobs")], form)).toEqual({});
    expect(toPlan(all, form)).toEqual({
      options: {},
      sweep: { file_size_bytes: ["64 MiB", "128 MiB", "1 GiB"], jobs: [1, 4] },
    });
    expect(meaningOf(size, form)).toBe("Sweep of 3: 64 MiB, 128 MiB, 1 GiB");
  });

  it("of one value is that value, and says what a bare letter means", () => {
    expect(toPlan(all, typed({ file_size_bytes: "64M" })).options).toEqual({ file_size_bytes: "64 MiB" });
    expect(toPlan(all, typed({ file_size_bytes: "64M," }))).toEqual({
      options: { file_size_bytes: "64 MiB" },
      sweep: {},
    });
    expect(meaningOf(size, typed({ file_size_bytes: "1.5 g" }))).toBe("means 1536 MiB");
    expect(meaningOf(size, typed({ file_size_bytes: "64 MiB" }))).toBeNull();
    expect(meaningOf(size, typed({}))).toBeNull();
  });

  it.each([
    ["64M, 64 MiB", "64 MiB occurs twice."],
    ["64M, much", /“much” is not a size/],
    [",", "Enter at least one value."],
  ])("%j has a problem", (text, problem) => {
    const form = typed({ file_size_bytes: text });
    expect(problemsOf([size], form).file_size_bytes).toMatch(problem);
    expect(meaningOf(size, form)).toBeNull();
  });

  it("may contain auto and an empty value", () => {
    const auto = field("file_size_bytes", readFields(forms.dd));
    expect(toPlan([auto], typed({ file_size_bytes: "auto, 4G" })).sweep).toEqual({
      file_size_bytes: ["auto", "4 GiB"],
    });
    expect(toPlan(all, typed({ limit_seconds: "(none), 1 min" })).sweep).toEqual({
      limit_seconds: [null, "1 min"],
    });
  });

  it("does not split texts", () => {
    expect(toPlan(all, typed({ note: "a, b" }))).toEqual({ options: { note: "a, b" }, sweep: {} });
  });
});

describe.each(["dd", "iozone", "bonnie"] as const)("the form of %s", (name) => {
  const form = readFields(forms[name]);
  const size = field("file_size_bytes", form);

  it("accepts each of its defaults, single and swept", () => {
    const defaults = form.map((each) => [each.name, each.defaultValue] as const);
    expect(problemsOf(form, { options: Object.fromEntries(defaults), sweep: {} })).toEqual({});
    const sweep = Object.fromEntries(defaults.map(([option, value]) => [option, [value]]));
    expect(problemsOf(form, { options: {}, sweep })).toEqual({});
    expect(toPlan(form, { options: Object.fromEntries(defaults), sweep })).toEqual({
      options: Object.fromEntries(defaults),
      sweep,
    });
  });

  it("accepts auto as a size", () => {
    const sizes = ["auto", " auto ", "64 GiB", 68_719_476_736];
    expect(sizes.map((value) => problemOf(size, value))).toEqual([null, null, null, null]);
    expect(sizes.map((value) => valueText(size, value))).toEqual(["auto", " auto ", "64 GiB", "64 GiB"]);
    expect(toPlan(form, { options: { file_size_bytes: " auto " }, sweep: {} }).options).toEqual({
      file_size_bytes: "auto",
    });
    expect(toPlan(form, { options: {}, sweep: { file_size_bytes: sizes } }).sweep).toEqual({
      file_size_bytes: ["auto", "auto", "64 GiB", 68_719_476_736],
    });
  });

  it("names the choices of a size in errors, and checks its limits", () => {
    expect(problemOf(size, "automatic")).toMatch(/^“automatic” is not a size. .* or auto$/);
    expect(problemOf(size, "1 B")).toMatch(/^Must be at least/);
  });
});

it("recognises a named size in any spelling", () => {
  const block = field("block_size_bytes", readFields(forms.bonnie));
  expect([8192, "8192", "8 KiB", "8KiB"].map((value) => choiceOf(block, value))).toEqual(Array(4).fill(8192));
  expect(choiceOf(block, "3 KiB")).toBeUndefined();
  expect(toPlan([block], { options: { block_size_bytes: "8KiB" }, sweep: {} }).options).toEqual({
    block_size_bytes: 8192,
  });
});

describe("a list", () => {
  const lists = readFields(forms.lists);

  it.each([
    ["sizes_bytes", ["4 KiB", 512]],
    ["file_sizes_bytes", ["auto", "1 GiB"]],
    ["depths", []],
    ["depths", ["1", 4, "16"]],
    ["delays_seconds", null],
    ["delays_seconds", ["1.5 s", "1 min"]],
    ["words", ["a, b", "c"]],
  ])("%s may be %j", (name, value) => {
    expect(problemOf(field(name, lists), value)).toBeNull();
  });

  it.each([
    ["sizes_bytes", [], "Enter at least one value."],
    ["sizes_bytes", ["4 KiB", "5 Q"], /“5 Q” is not a size/],
    ["sizes_bytes", ["4 KiB", 511], "Must be at least 512 B."],
    ["file_sizes_bytes", ["large"], /or auto$/],
    ["depths", ["1", "many"], "Enter a number."],
    ["depths", [1, 2, 3, 4], "Enter at most 3 values."],
    ["depths", 4, "Enter a list."],
    ["delays_seconds", [], "Enter at least one value."],
  ])("%s may not be %j", (name, value, reason) => {
    expect(problemOf(field(name, lists), value)).toMatch(reason);
  });

  it("is sent with each entry converted by its kind", () => {
    const options = {
      sizes_bytes: ["4 KiB", "512"],
      file_sizes_bytes: ["auto", " 1 GiB"],
      depths: ["1", 4],
      delays_seconds: ["1.5", "1 min"],
      words: ["12", "a, b"],
    };
    expect(toPlan(lists, { options, sweep: { depths: [["1"], [2, "3"]] } })).toEqual({
      options: {
        sizes_bytes: ["4 KiB", 512],
        file_sizes_bytes: ["auto", "1 GiB"],
        depths: [1, 4],
        delays_seconds: [1.5, "1 min"],
        words: ["12", "a, b"],
      },
      sweep: { depths: [[1], [2, 3]] },
    });
  });

  it("reads as its entries", () => {
    expect(valueText(field("sizes_bytes", lists), [4096, "1 MiB"])).toBe("4 KiB + 1 MiB");
  });
});

it("treats mixed types, tuples and mappings as JSON, and keeps their defaults", () => {
  const integer = { type: "integer" };
  const fields = readFields({
    properties: {
      depths: { anyOf: [integer, { type: "array", items: integer }], default: [1, 2] },
      size_bytes: { anyOf: [integer, { type: "array", items: integer }], "x-unit": "bytes", default: 4096 },
      pair: { type: "array", prefixItems: [integer, integer], minItems: 2, maxItems: 2, default: [3, 4] },
      hints: { type: "object", default: { striping: 4 } },
    },
  });
  const options = Object.fromEntries(fields.map(({ name, defaultValue }) => [name, defaultValue]));
  const texts = fields.map((each) => [each.name, valueText(each, each.defaultValue)] as const);
  expect(texts.map(([, text]) => text)).toEqual(["[1,2]", "4 KiB", "[3,4]", '{"striping":4}']);
  const typed = Object.fromEntries(texts);
  expect(problemsOf(fields, { options, sweep: {} })).toEqual({});
  expect(problemsOf(fields, { options: typed, sweep: {} })).toEqual({});
  expect(toPlan(fields, { options: typed, sweep: { depths: ["4", "[1, 8]"] } })).toEqual({
    options: { ...options, size_bytes: "4 KiB" },
    sweep: { depths: [4, [1, 8]] },
  });
});
