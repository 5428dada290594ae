/** Form from a JSON Schema. Any scalar option can be swept over several values. */

import { t } from "@lingui/core/macro";
import { ActionIcon, Box, Group, SimpleGrid, Tooltip } from "@mantine/core";
import { Icon } from "../Icon";
import { SingleInput, SweepInput } from "./inputs";
import { canSweep, type Field } from "./schema";
import type { FormValue } from "./values";

interface SchemaFormProps {
  readonly fields: readonly Field[];
  readonly value: FormValue;
  /** Problems by option name, found here or by the server. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (value: FormValue) => void;
}

export function SchemaForm({ fields, value, problems, onChange }: SchemaFormProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
      {fields.map((field) => (
        <FieldRow
          field={field}
          key={field.name}
          onChange={(change) => onChange(change(value))}
          problem={problems[field.name]}
          value={value}
        />
      ))}
    </SimpleGrid>
  );
}

interface FieldRowProps {
  readonly field: Field;
  readonly value: FormValue;
  readonly problem: string | undefined;
  readonly onChange: (change: (value: FormValue) => FormValue) => void;
}

function FieldRow({ field, value, problem, onChange }: FieldRowProps) {
  const swept = value.sweep[field.name];
  return (
    <Group align="flex-start" gap={6} wrap="nowrap">
      <Box flex={1} miw={0}>
        {swept === undefined ? (
          <SingleInput
            field={field}
            onChange={(next) => onChange((form) => setOption(form, field.name, next))}
            problem={problem}
            value={value.options[field.name]}
          />
        ) : (
          <SweepInput
            field={field}
            onChange={(next) => onChange((form) => setSweep(form, field.name, next))}
            problem={problem}
            values={swept}
          />
        )}
      </Box>
      {(canSweep(field) || swept !== undefined) && (
        <SweepToggle
          isOn={swept !== undefined}
          onToggle={() => onChange((form) => toggleSweep(form, field))}
          title={field.title}
        />
      )}
    </Group>
  );
}

function SweepToggle({ isOn, title, onToggle }: { isOn: boolean; title: string; onToggle: () => void }) {
  return (
    <Tooltip label={isOn ? t`Use a single value` : t`Sweep several values`}>
      <ActionIcon
        aria-label={t`Sweep over ${title}`}
        aria-pressed={isOn}
        onClick={onToggle}
        variant={isOn ? "light" : "subtle"}
      >
        <Icon name="sweep" />
      </ActionIcon>
    </Tooltip>
  );
}

export function setOption(form: FormValue, name: string, value: unknown): FormValue {
  const { [name]: _old, ...others } = form.options;
  return { ...form, options: value === undefined ? others : { ...others, [name]: value } };
}

function setSweep(form: FormValue, name: string, values: unknown[]): FormValue {
  return { ...form, sweep: { ...form.sweep, [name]: values } };
}

/** Turn a value into a list that starts with it, or a list into its first value. */
export function toggleSweep(form: FormValue, field: Field): FormValue {
  const { [field.name]: swept, ...otherSweeps } = form.sweep;
  if (swept) return setOption({ ...form, sweep: otherSweeps }, field.name, swept[0]);
  const given = form.options[field.name];
  const current = given === undefined ? field.defaultValue : given;
  const isNone = current === null || current === "";
  const start = current === undefined || (isNone && !field.isNullable) ? [] : [isNone ? null : current];
  return setSweep(setOption(form, field.name, undefined), field.name, start);
}
