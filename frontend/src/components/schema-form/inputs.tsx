/** One input a kind of option: for a single value, and for the several values of a sweep. */

import { MultiSelect, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { type Field, valueText } from "./schema";

export interface InputProps {
  readonly field: Field;
  readonly value: unknown;
  readonly problem: string | undefined;
  /** Undefined takes the option out of the plan, so that its default holds. */
  readonly onChange: (value: unknown) => void;
}

const UNIT_PLACEHOLDER = { bytes: "64 MiB", bytes_per_second: "1024 Mbit/s", seconds: "10 min" };

export function SingleInput({ field, value, problem, onChange }: InputProps) {
  const shown = value === undefined ? field.defaultValue : value;
  const common = {
    label: field.title,
    description: field.description,
    error: problem,
    required: field.isRequired,
  };
  switch (field.kind) {
    case "boolean":
      return (
        <Switch
          {...common}
          checked={shown === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          allowDeselect={field.isNullable}
          data={[...field.choices]}
          onChange={(choice) => onChange(choice ?? undefined)}
          value={valueText(field, shown) || null}
        />
      );
    case "choices":
      return (
        <MultiSelect
          {...common}
          data={[...field.choices]}
          onChange={onChange}
          value={asTexts(field, shown)}
        />
      );
    case "lines":
      return <LinesInput {...common} field={field} onChange={onChange} shown={shown} />;
    default:
      return <TextLikeInput {...common} field={field} onChange={onChange} shown={shown} />;
  }
}

interface TextLikeProps {
  readonly field: Field;
  readonly shown: unknown;
  readonly onChange: (value: unknown) => void;
  readonly label: string;
  readonly description: string | undefined;
  readonly error: string | undefined;
  readonly required: boolean;
}

function TextLikeInput({ field, shown, onChange, ...common }: TextLikeProps) {
  return (
    <TextInput
      {...common}
      inputMode={field.kind === "text" || field.unit ? "text" : "decimal"}
      onChange={(event) => {
        const text = event.currentTarget.value;
        const isUnset = text === "" && (field.isNullable || field.isRequired);
        onChange(isUnset ? undefined : text);
      }}
      placeholder={field.unit && UNIT_PLACEHOLDER[field.unit]}
      value={valueText(field, shown)}
    />
  );
}

/** Text whose lines matter, such as a job file. */
function LinesInput({ field, shown, onChange, ...common }: TextLikeProps) {
  return (
    <Textarea
      {...common}
      autosize
      maxRows={20}
      minRows={4}
      onChange={(event) => onChange(event.currentTarget.value)}
      spellCheck={false}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      value={valueText(field, shown)}
    />
  );
}

/** Several values of one scalar option; the matrix tries each of them. */
export function SweepInput({ field, value, problem, onChange }: InputProps) {
  const texts = asTexts(field, value);
  const common = {
    label: field.title,
    description: "One cell of the matrix for each value.",
    error: problem,
  };
  if (field.kind === "choice" || field.kind === "boolean") {
    const choices = field.kind === "boolean" ? ["true", "false"] : [...field.choices];
    return (
      <MultiSelect
        {...common}
        data={choices}
        onChange={(chosen) =>
          onChange(field.kind === "boolean" ? chosen.map((text) => text === "true") : chosen)
        }
        value={texts}
      />
    );
  }
  return (
    <TagsInput
      {...common}
      acceptValueOnBlur
      onChange={onChange}
      placeholder={texts.length === 0 ? "Type a value, then Enter" : ""}
      splitChars={[",", ";"]}
      value={texts}
    />
  );
}

function asTexts(field: Field, value: unknown): string[] {
  return Array.isArray(value) ? value.map((item) => valueText(field, item)) : [];
}
