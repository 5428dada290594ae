import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { renderWithApp } from "@/testing/render";
import { SchemaForm } from "./SchemaForm";
import { type FormValue, problemsOf, readFields } from "./schema";

const fields = readFields({
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

function Form({ onValue }: { onValue: (value: FormValue) => void }) {
  const [value, setValue] = useState(EMPTY);
  function change(next: FormValue): void {
    setValue(next);
    onValue(next);
  }
  return <SchemaForm fields={fields} onChange={change} problems={problemsOf(fields, value)} value={value} />;
}

function renderForm() {
  const onValue = vi.fn<(value: FormValue) => void>();
  const lastValue = () => onValue.mock.lastCall?.[0] ?? EMPTY;
  return { ...renderWithApp(<Form onValue={onValue} />), lastValue };
}

it("shows defaults and puts into the plan only what was changed", async () => {
  const { user, lastValue } = renderForm();
  const size = screen.getByRole("textbox", { name: "File size" });
  expect(size).toHaveValue("64 MiB");
  expect(lastValue().options).toEqual({});
  await user.clear(size);
  await user.type(size, "1 GiB");
  await user.click(screen.getByRole("switch", { name: "Fsync" }));
  expect(lastValue().options).toEqual({ file_size_bytes: "1 GiB", fsync: false });
});

it("takes a text of several lines as it was pasted, and offers no sweep of it", async () => {
  const { user, lastValue } = renderForm();
  const text = screen.getByRole("textbox", { name: "Job file" });
  await user.click(text);
  await user.paste("[a]\nsize=1m\n");
  expect(lastValue().options).toEqual({ job_file: "[a]\nsize=1m\n" });
  await user.clear(text);
  expect(lastValue().options).toEqual({ job_file: "" });
  expect(screen.queryByRole("button", { name: /Job file/ })).not.toBeInTheDocument();
});

it("says at the field why a size is refused", async () => {
  const { user } = renderForm();
  const size = screen.getByRole("textbox", { name: "File size" });
  await user.clear(size);
  await user.type(size, "64 M");
  expect(size).toHaveAccessibleDescription(/“64 M” is not a size; write a whole number of bytes/);
});

it("turns one value into a sweep that starts with it, and back into its first value", async () => {
  const { user, lastValue } = renderForm();
  const toggle = screen.getByRole("button", { name: "Sweep over Jobs" });
  await user.click(toggle);
  expect(toggle).toHaveAttribute("aria-pressed", "true");
  await user.type(screen.getByLabelText("Jobs", { selector: "input" }), "4{Enter}8{Enter}");
  expect(lastValue().sweep).toEqual({ jobs: ["1", "4", "8"] });
  await user.click(toggle);
  expect(lastValue()).toEqual({ options: { jobs: "1" }, sweep: {} });
});

it("asks for an option without default", async () => {
  const { user, lastValue } = renderForm();
  const pattern = screen.getByRole("combobox", { name: "Pattern" });
  expect(pattern).toHaveAccessibleDescription(/no default/);
  await user.click(pattern);
  await user.click(screen.getByRole("option", { name: "read" }));
  expect(lastValue().options).toEqual({ pattern: "read" });
});
