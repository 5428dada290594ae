/** Form from a JSON Schema. Any scalar option can be swept over several values. */

import { t } from "@lingui/core/macro";
import { Box, Group, SimpleGrid } from "@mantine/core";
import { Detail, RowButton } from "@/components/looks";
import { SingleInput, SweepInput } from "./inputs";
import { canSweep, type Field } from "./schema";
import { type FormValue, meaningOf, sweptText, takesList } from "./values";

interface SchemaFormProps {
  readonly fields: readonly Field[];
  readonly value: FormValue;
  /** Problems by option name, found here or by the server. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (value: FormValue) => void;
}

export function SchemaForm({ fields, value, problems, onChange }: SchemaFormProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }} spacing="md" verticalSpacing="sm">
      {fields.map((field) => {
        const Row = takesList(field) ? ListRow : FieldRow;
        return (
          <Row
            field={field}
            key={field.name}
            onChange={onChange}
            problem={problems[field.name]}
            value={value}
          />
        );
      })}
    </SimpleGrid>
  );
}

interface FieldRowProps {
  readonly field: Field;
  readonly value: FormValue;
  readonly problem: string | undefined;
  readonly onChange: (value: FormValue) => void;
}

/** A size or number: a comma list in its input is a sweep. */
function ListRow({ field, value, problem, onChange }: FieldRowProps) {
  const swept = value.sweep[field.name];
  const meaning = meaningOf(field, value);
  return (
    <Box>
      <SingleInput
        field={field}
        onChange={(next) => onChange(setOption(withoutSweep(value, field.name), field.name, next))}
        problem={problem}
        value={swept ? swept.map((each) => sweptText(field, each)).join(", ") : value.options[field.name]}
      />
      {meaning && <Detail role="status">{meaning}</Detail>}
    </Box>
  );
}

function FieldRow({ field, value, problem, onChange }: FieldRowProps) {
  const swept = value.sweep[field.name];
  return (
    <Group align="flex-start" gap={6} wrap="nowrap">
      <Box flex={1} miw={0}>
        {swept === undefined ? (
          <SingleInput
            field={field}
            onChange={(next) => onChange(setOption(value, field.name, next))}
            problem={problem}
            value={value.options[field.name]}
          />
        ) : (
          <SweepInput
            field={field}
            onChange={(next) => onChange(setSweep(value, field.name, next))}
            problem={problem}
            values={swept}
          />
        )}
      </Box>
      {(canSweep(field) || swept !== undefined) && (
        <RowButton
          aria-label={t`Sweep over ${field.title}`}
          aria-pressed={swept !== undefined}
          onClick={() => onChange(toggleSweep(value, field))}
          variant={swept === undefined ? "subtle" : "light"}
        >{t`Sweep`}</RowButton>
      )}
    </Group>
  );
}

function setOption(form: FormValue, name: string, value: unknown): FormValue {
  const { [name]: _old, ...others } = form.options;
  return { ...form, options: value === undefined ? others : { ...others, [name]: value } };
}

function setSweep(form: FormValue, name: string, values: unknown[]): FormValue {
  return { ...form, sweep: { ...form.sweep, [name]: values } };
}

function withoutSweep(form: FormValue, name: string): FormValue {
  const { [name]: _old, ...sweep } = form.sweep;
  return { ...form, sweep };
}

/** Turn a value into a list that starts with it, or a list into its first value. */
function toggleSweep(form: FormValue, field: Field): FormValue {
  const swept = form.sweep[field.name];
  if (swept) return setOption(withoutSweep(form, field.name), field.name, swept[0]);
  const given = form.options[field.name];
  const current = given === undefined ? field.defaultValue : given;
  const isNone = current === null || current === "";
  const start = current === undefined || (isNone && !field.isNullable) ? [] : [isNone ? null : current];
  return setSweep(setOption(form, field.name, undefined), field.name, start);
}
