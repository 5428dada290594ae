/** Inputs by kind of option: for a value, a list, and the values of a sweep. */

import { t } from "@lingui/core/macro";
import {
  Autocomplete,
  MultiSelect,
  type OptionsFilter,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { Field, List, Scalar } from "./schema";
import { choiceOf, NONE, shownText, sweptText, valueText } from "./values";

export interface InputProps {
  readonly field: Field;
  readonly value: unknown;
  readonly problem: string | undefined;
  /** Undefined removes the option from the plan, so its default applies. */
  readonly onChange: (value: unknown) => void;
}

const UNIT_PLACEHOLDER = {
  bytes: "64 MiB, or 64M, 128M, 1G",
  bytes_per_second: "1024 Mbit/s",
  seconds: "10 min",
};

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
          data={choiceTexts(field)}
          onChange={(text) => onChange(text === null ? emptied(field) : choiceOf(field, text))}
          value={shownText(field, shown) || null}
        />
      );
    case "list":
      return <ListInput {...common} field={field} onChange={onChange} shown={shown} />;
    case "lines":
      return <LinesInput {...common} field={field} onChange={onChange} shown={shown} />;
    default:
      return <TextLikeInput {...common} field={field} onChange={onChange} shown={shown} />;
  }
}

interface LabelledProps {
  readonly label: string;
  readonly description: string | undefined;
  readonly error: string | undefined;
  readonly required?: boolean;
}

interface TextLikeProps extends LabelledProps {
  readonly field: Scalar;
  readonly shown: unknown;
  readonly onChange: (value: unknown) => void;
}

function TextLikeInput({ field, shown, onChange, ...common }: TextLikeProps) {
  const input = {
    ...common,
    inputMode: "text" as const,
    placeholder: field.kind === "json" ? "[1, 2]" : field.unit && UNIT_PLACEHOLDER[field.unit],
    value: valueText(field, shown),
  };
  function enter(text: string): void {
    onChange(text === "" && (field.isNullable || field.isRequired) ? emptied(field) : text);
  }
  if (field.choices.length > 0)
    return <Autocomplete {...input} data={choiceTexts(field)} filter={everyOption} onChange={enter} />;
  return <TextInput {...input} onChange={(event) => enter(event.currentTarget.value)} />;
}

/** Offer every choice, whatever the input contains. */
const everyOption: OptionsFilter = ({ options }) => options;

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

interface ListProps extends LabelledProps {
  readonly field: List;
  readonly shown: unknown;
  readonly onChange: (value: unknown) => void;
}

/** The entries of a list, or a choice that replaces the list. */
function ListInput({ field, shown, onChange, ...common }: ListProps) {
  const entry: Scalar = { ...field.item, choices: [...new Set([...field.item.choices, ...field.choices])] };
  function change(entries: readonly unknown[]): void {
    const others = entries.filter((given) => choiceOf(field, given) === undefined);
    const isEmptied = entries.length === 0 && field.isNullable;
    onChange(isEmptied ? emptied(field) : (choiceOf(field, entries.at(-1)) ?? others));
  }
  return (
    <SeveralInput
      {...common}
      allowDuplicates={!field.hasUniqueItems}
      field={entry}
      onChange={change}
      values={[shown ?? []].flat()}
    />
  );
}

/** Return the value of an emptied input: null if allowed and not the default, otherwise undefined. */
function emptied(field: Field): null | undefined {
  return field.isNullable && field.defaultValue !== null ? null : undefined;
}

interface SweepProps {
  readonly field: Field;
  readonly values: readonly unknown[];
  readonly problem: string | undefined;
  readonly onChange: (values: unknown[]) => void;
}

export function SweepInput({ field, values, problem, onChange }: SweepProps) {
  const common = {
    label: field.title,
    description: t`Each value adds a configuration to the matrix.`,
    error: problem,
  };
  if (field.kind === "list")
    return <TagsInput {...common} readOnly value={values.map((value) => sweptText(field, value))} />;
  return (
    <SeveralInput {...common} allowDuplicates={false} field={field} onChange={onChange} values={values} />
  );
}

interface SeveralProps extends LabelledProps {
  readonly field: Scalar;
  readonly values: readonly unknown[];
  readonly allowDuplicates: boolean;
  readonly onChange: (values: unknown[]) => void;
}

/** Several values: selected if all choices are known, otherwise typed. */
function SeveralInput({ field, values, allowDuplicates, onChange, ...common }: SeveralProps) {
  const texts = values.map((value) => sweptText(field, value));
  const data = [...choiceTexts(field), ...(field.isNullable ? [NONE] : [])];
  if (field.kind === "choice" || field.kind === "boolean") {
    return (
      <MultiSelect
        {...common}
        data={data}
        onChange={(chosen) => onChange(chosen.map((text) => (text === NONE ? null : choiceOf(field, text))))}
        value={texts}
      />
    );
  }
  return (
    <TagsInput
      {...common}
      acceptValueOnBlur
      allowDuplicates={allowDuplicates}
      data={data}
      onChange={(entered) => onChange(entered.map((text) => (text === NONE ? null : text)))}
      placeholder={texts.length === 0 ? t`Type a value and press Enter` : ""}
      splitChars={field.kind === "text" || field.kind === "json" ? [] : [",", ";"]}
      value={texts}
    />
  );
}

function choiceTexts(field: Field): string[] {
  return field.choices.map((choice) => valueText(field, choice));
}
