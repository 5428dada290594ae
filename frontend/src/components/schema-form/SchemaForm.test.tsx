import forms from "@testing/forms.json";
import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { SchemaForm } from "./SchemaForm";
import { type Field, readFields } from "./schema";
import { type FormValue, problemsOf } from "./values";

const FIELDS = readFields({
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
    fsync: { type: "boolean", default: true, title: "Fsync" },
    jobs: { type: "integer", default: 1, title: "Jobs" },
    job_file: { type: "string", default: "", title: "Job file", "x-multiline": true },
  },
});

const EMPTY: FormValue = { options: {}, sweep: {} };

interface FormProps {
  readonly fields: readonly Field[];
  readonly start: FormValue;
  readonly onValue: (value: FormValue) => void;
}

function Form({ fields, start, onValue }: FormProps) {
  const [value, setValue] = useState(start);
  function change(next: FormValue): void {
    setValue(next);
    onValue(next);
  }
  return <SchemaForm fields={fields} onChange={change} problems={problemsOf(fields, value)} value={value} />;
}

function renderForm(fields = FIELDS, start = EMPTY) {
  const onValue = vi.fn<(value: FormValue) => void>();
  const lastValue = () => onValue.mock.lastCall?.[0] ?? start;
  return { ...renderWithApp(<Form fields={fields} onValue={onValue} start={start} />), lastValue };
}

function input(label: string): HTMLElement {
  return screen.getByLabelText(label, { selector: "input" });
}

it("shows defaults and adds only changed options to the plan", async () => {
  const { user, lastValue } = renderForm();
  const size = screen.getByRole("textbox", { name: "File size" });
  expect(size).toHaveValue("64 MiB");
  expect(lastValue().options).toEqual({});
  await user.clear(size);
  await user.type(size, "1 GiB");
  await user.click(screen.getByRole("switch", { name: "Fsync" }));
  expect(lastValue().options).toEqual({ file_size_bytes: "1 GiB", fsync: false });
});

it("keeps pasted multi-line text, and offers no sweep for it", async () => {
  const { user, lastValue } = renderForm();
  const text = screen.getByRole("textbox", { name: "Job file" });
  await user.click(text);
  await user.paste("[a]\nsize=1m\n");
  expect(lastValue().options).toEqual({ job_file: "[a]\nsize=1m\n" });
  await user.clear(text);
  expect(lastValue().options).toEqual({ job_file: "" });
  expect(screen.queryByRole("button", { name: /Job file/ })).not.toBeInTheDocument();
});

it("shows at the field why a size is invalid", async () => {
  const { user } = renderForm();
  const size = screen.getByRole("textbox", { name: "File size" });
  await user.clear(size);
  await user.type(size, "64 Q");
  expect(size).toHaveAccessibleDescription(/“64 Q” is not a size. Enter a whole number of bytes/);
});

it("takes a comma list as a sweep and says what it means, without an icon", async () => {
  const { user, lastValue } = renderForm();
  const size = input("File size");
  await user.clear(size);
  await user.type(size, "64M");
  expect(screen.getByText("means 64 MiB")).toBeInTheDocument();
  await user.type(size, ", 1G");
  expect(screen.getByText("Sweep of 2: 64 MiB, 1 GiB")).toBeInTheDocument();
  expect(lastValue()).toEqual({ options: { file_size_bytes: "64M, 1G" }, sweep: {} });
  await user.type(size, ", x");
  expect(size).toHaveAccessibleDescription(/“x” is not a size/);
  expect(screen.queryByRole("button", { name: "Sweep over File size" })).not.toBeInTheDocument();
});

it("shows the sweep of an earlier plan as a list, which typing changes", async () => {
  const { user, lastValue } = renderForm(FIELDS, { options: {}, sweep: { jobs: [1, 4] } });
  expect(input("Jobs")).toHaveValue("1, 4");
  await user.type(input("Jobs"), ", 8");
  expect(lastValue()).toEqual({ options: { jobs: "1, 4, 8" }, sweep: {} });
});

it("turns a choice into a sweep that starts with it, and back into its first value", async () => {
  const { user, lastValue } = renderForm(FIELDS, { options: { pattern: "write" }, sweep: {} });
  const toggle = screen.getByRole("button", { name: "Sweep over Pattern" });
  await user.click(toggle);
  expect(toggle).toHaveAttribute("aria-pressed", "true");
  await user.click(input("Pattern"));
  await user.click(screen.getByRole("option", { name: "read" }));
  expect(lastValue().sweep).toEqual({ pattern: ["write", "read"] });
  await user.click(toggle);
  expect(lastValue()).toEqual({ options: { pattern: "write" }, sweep: {} });
});

it("requires an option without default", async () => {
  const { user, lastValue } = renderForm();
  const pattern = screen.getByRole("combobox", { name: "Pattern" });
  expect(pattern).toHaveAccessibleDescription(/no default/);
  await user.click(pattern);
  await user.click(screen.getByRole("option", { name: "read" }));
  expect(lastValue().options).toEqual({ pattern: "read" });
});

it("offers the named choices of a size, and accepts them when typed", async () => {
  const { user, lastValue } = renderForm(readFields(forms.dd));
  const size = input("File size");
  expect(size).toHaveValue("auto");
  await user.clear(size);
  await user.type(size, "1 GiB");
  expect(lastValue().options).toEqual({ file_size_bytes: "1 GiB" });
  await user.clear(size);
  await user.click(screen.getByRole("option", { name: "auto" }));
  expect(size).toHaveValue("auto");
  expect(lastValue().options).toEqual({ file_size_bytes: "auto" });
  await user.type(size, "{Backspace}");
  expect(size).toHaveAccessibleDescription(/“aut” is not a size. .* or auto/);
  await user.type(size, "o");
  expect(size).not.toHaveAccessibleDescription(/not a size/);
  expect(lastValue().options).toEqual({ file_size_bytes: "auto" });
});

it("shows choices of sizes with units, and keeps the number", async () => {
  const { user, lastValue } = renderForm(readFields(forms.bonnie));
  const block = screen.getByRole("combobox", { name: "Block size" });
  expect(block).toHaveValue("8 KiB");
  await user.click(block);
  await user.click(screen.getByRole("option", { name: "16 KiB" }));
  expect(block).toHaveValue("16 KiB");
  expect(lastValue().options).toEqual({ block_size_bytes: 16384 });
});

it("adds list entries one by one, or split at commas if no entry can contain one", async () => {
  const { user, lastValue } = renderForm(readFields(forms.lists));
  await user.type(input("Depths"), "1,4,1{Enter}");
  await user.type(input("Sizes"), "4 KiB{Enter}");
  await user.type(input("Words"), "a, b{Enter}");
  expect(lastValue().options).toEqual({
    depths: ["1", "4"],
    sizes_bytes: ["4 KiB", "64 KiB", "4 KiB"],
    words: ["a, b"],
  });
  await user.type(input("Depths"), "few{Enter}");
  expect(input("Depths")).toHaveAccessibleDescription(/Enter a number/);
});

it("removes a list from the plan with its last entry", async () => {
  const { user, lastValue } = renderForm(readFields(forms.lists));
  await user.type(input("Delays"), "10 min{Enter}");
  expect(lastValue().options).toEqual({ delays_seconds: ["10 min"] });
  await user.type(input("Delays"), "{Backspace}");
  expect(lastValue().options).toEqual({});
});

it("accepts a choice in place of a list, or entries", async () => {
  const depths = { anyOf: [{ type: "array", items: { type: "integer" } }, { const: "all" }], default: "all" };
  const { user, lastValue } = renderForm(readFields({ properties: { depths } }));
  expect(screen.getByText("all")).toBeInTheDocument();
  await user.type(input("Depths"), "4{Enter}8{Enter}");
  expect(lastValue().options).toEqual({ depths: ["4", "8"] });
  await user.type(input("Depths"), "all{Enter}");
  expect(lastValue().options).toEqual({ depths: "all" });
});

it("shows the lists of a sweep, and returns to the first", async () => {
  const start = { options: {}, sweep: { depths: [[1], [2, 4]] } };
  const { user, lastValue } = renderForm(readFields(forms.lists), start);
  expect(screen.getByText("2 + 4")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Sweep over Depths" }));
  expect(lastValue()).toEqual({ options: { depths: [1] }, sweep: {} });
  expect(screen.queryByRole("button", { name: "Sweep over Depths" })).not.toBeInTheDocument();
});

describe("a nullable option", () => {
  const nullable = readFields({
    properties: {
      limit_seconds: { anyOf: [{ type: "number" }, { type: "null" }], "x-unit": "seconds", default: 60 },
      pause_seconds: { anyOf: [{ type: "number" }, { type: "null" }], default: null },
      mode: { anyOf: [{ enum: ["fast", "none"] }, { type: "null" }], default: "fast" },
    },
  });

  it("becomes null when emptied, and leaves the plan if null is its default", async () => {
    const { user, lastValue } = renderForm(nullable);
    await user.clear(input("Limit"));
    expect(lastValue().options).toEqual({ limit_seconds: null });
    expect(input("Limit")).toHaveValue("");
    await user.type(input("Pause"), "5{Backspace}");
    expect(lastValue().options).toEqual({ limit_seconds: null });
    await user.click(screen.getByRole("combobox", { name: "Mode" }));
    await user.click(screen.getByRole("option", { name: "fast" }));
    expect(lastValue().options).toEqual({ limit_seconds: null, mode: null });
  });

  it("sweeps over null, distinct from a choice named none", async () => {
    const start = { options: {}, sweep: { mode: ["none"], limit_seconds: [null, 60] } };
    const { user, lastValue } = renderForm(nullable, start);
    expect(input("Limit")).toHaveValue("(none), 1 min");
    await user.click(input("Mode"));
    await user.click(screen.getByRole("option", { name: "(none)" }));
    expect(lastValue().sweep.mode).toEqual(["none", null]);
  });
});

it("accepts a typed tuple, and keeps its commas in a sweep", async () => {
  const pair = { type: "array", prefixItems: [{ type: "integer" }, { type: "integer" }], default: [3, 4] };
  const { user, lastValue } = renderForm(readFields({ properties: { pair } }));
  expect(input("Pair")).toHaveValue("[3,4]");
  await user.type(input("Pair"), "{Backspace}2]");
  expect(lastValue().options).toEqual({ pair: "[3,42]" });
  await user.click(screen.getByRole("button", { name: "Sweep over Pair" }));
  await user.type(input("Pair"), "[[1, 2]{Enter}");
  expect(lastValue().sweep).toEqual({ pair: ["[3,42]", "[1, 2]"] });
});
