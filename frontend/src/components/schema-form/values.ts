import { t } from "@lingui/core/macro";
import {
  exactBytes,
  exactRate,
  exactSeconds,
  parseBytes,
  parseRate,
  parseSeconds,
  spellSize,
  UnitError,
} from "@/lib/units";
import type { Constant, Field, List, Scalar } from "./schema";

/** The brackets distinguish it from a choice named `none`. */
export const NONE = "(none)";
const SEPARATOR = /[,;]/;

/** Return whether a comma list in the field's input is a sweep: for sizes, rates, durations and numbers. */
export function takesList(field: Field): field is Scalar {
  return field.kind === "integer" || field.kind === "number";
}

/** Return the values of a sweep, also of a list typed as text; undefined for a single value. */
export function sweptValues(field: Field, { options, sweep }: FormValue): readonly unknown[] | undefined {
  const typed = options[field.name];
  if (sweep[field.name] || !takesList(field) || typeof typed !== "string" || !SEPARATOR.test(typed))
    return sweep[field.name];
  const texts = typed.split(SEPARATOR).map((text) => text.trim());
  return texts.filter(Boolean).map((text) => (text === NONE && field.isNullable ? null : text));
}

/** Return the text for an input, in the largest unit that is exact. */
export function valueText(field: Field, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (field.kind === "list" && Array.isArray(value))
    return value.map((entry) => valueText(field.item, entry)).join(" + ");
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value !== "number") return String(value);
  if (field.unit === "bytes") return exactBytes(value);
  if (field.unit === "bytes_per_second") return exactRate(value);
  return field.unit === "seconds" ? exactSeconds(value) : String(value);
}

/** Return the choice that equals the value, however it is written: `auto`, `8192` or `8 KiB`. */
export function choiceOf(field: Field, value: unknown): Constant | undefined {
  if (value === undefined || typeof value === "object") return undefined;
  const text = String(value).trim();
  const number = numberOrNaN(field, value);
  return field.choices.find((choice) => String(choice) === text || choice === number);
}

/** A choice is shown the same way however the plan spells it. */
export function shownText(field: Field, value: unknown): string {
  return valueText(field, choiceOf(field, value) ?? value);
}

export function sweptText(field: Field, value: unknown): string {
  return value === null ? NONE : shownText(field, value);
}

/** Say which values a typed list has, or what a bare `64M` means; null if there is nothing to explain. */
export function meaningOf(field: Field, form: FormValue): string | null {
  if (!takesList(field)) return null;
  const swept = sweptValues(field, form);
  const typed = form.options[field.name];
  const isBare = typeof typed === "string" && field.unit === "bytes" && spellSize(typed) !== typed;
  const values = swept ?? (isBare ? [typed] : []);
  if (values.length === 0 || sweepProblem(field, values) !== null) return null;
  const texts = values.map((value) => exactText(field, value)).join(", ");
  return swept ? t`Sweep of ${swept.length}: ${texts}` : t`means ${texts}`;
}

function exactText(field: Field, value: unknown): string {
  if (value === null || value === "") return NONE;
  return valueText(field, choiceOf(field, value) ?? toNumber(field, value));
}

/** Return why a value is invalid, or null. */
export function problemOf(field: Field, value: unknown): string | null {
  if (value === undefined) return field.isRequired ? t`This option has no default. Enter a value.` : null;
  if (value === null || value === "")
    return field.isNullable || field.kind === "text" || field.kind === "lines" ? null : t`Enter a value.`;
  if (choiceOf(field, value) !== undefined) return null;
  if (field.kind === "list") return listProblem(field, value);
  return field.kind === "integer" || field.kind === "number" ? numberProblem(field, value) : null;
}

function listProblem({ item, minItems, maxItems }: List, value: unknown): string | null {
  return Array.isArray(value) ? severalProblem(item, value, minItems, maxItems) : t`Enter a list.`;
}

function severalProblem(
  field: Field,
  values: readonly unknown[],
  least: number,
  most = Number.POSITIVE_INFINITY,
): string | null {
  if (values.length < least) return t`Enter at least ${least === 1 ? t`one value` : t`${least} values`}.`;
  if (values.length > most) return t`Enter at most ${most === 1 ? t`one value` : t`${most} values`}.`;
  return values.map((value) => problemOf(field, value)).find((problem) => problem !== null) ?? null;
}

function sweepProblem(field: Field, values: readonly unknown[]): string | null {
  const problem = severalProblem(field, values, 1);
  if (problem !== null || !takesList(field)) return problem;
  const texts = values.map((value) => exactText(field, value));
  const twice = texts.find((text, index) => texts.indexOf(text) < index);
  return twice === undefined ? null : t`${twice} occurs twice.`;
}

function numberProblem(field: Scalar, value: unknown): string | null {
  const alternatives = field.choices.map((choice) => t` or ${valueText(field, choice)}`).join("");
  try {
    const number = toNumber(field, value);
    return Number.isFinite(number) ? rangeProblem(field, number) : t`Enter a number${alternatives}.`;
  } catch (error) {
    if (error instanceof UnitError) return `${error.message}${alternatives}`;
    throw error;
  }
}

function toNumber(field: Field, value: unknown): number {
  if (typeof value === "number") return value;
  const text = String(value).trim();
  if (field.unit === "bytes") return parseBytes(spellSize(text));
  if (field.unit === "bytes_per_second") return parseRate(text);
  if (field.unit === "seconds") return parseSeconds(text);
  return text === "" ? Number.NaN : Number(text);
}

function numberOrNaN(field: Field, value: unknown): number {
  try {
    return toNumber(field, value);
  } catch (error) {
    if (error instanceof UnitError) return Number.NaN;
    throw error;
  }
}

function rangeProblem(field: Scalar, value: number): string | null {
  if (field.kind === "integer" && !Number.isInteger(value)) return t`Enter a whole number.`;
  if (field.minimum !== undefined && value < field.minimum)
    return t`Must be at least ${valueText(field, field.minimum)}.`;
  if (field.maximum !== undefined && value > field.maximum)
    return t`Must be at most ${valueText(field, field.maximum)}.`;
  const above = field.exclusiveMinimum;
  return above !== undefined && value <= above ? t`Must be more than ${valueText(field, above)}.` : null;
}

export interface FormValue {
  readonly options: Record<string, unknown>;
  readonly sweep: Record<string, unknown[]>;
}

export function problemsOf(fields: readonly Field[], { options, sweep }: FormValue): Record<string, string> {
  const problems = fields.map((field) => {
    const values = sweptValues(field, { options, sweep });
    const problem = values ? sweepProblem(field, values) : problemOf(field, options[field.name]);
    return [field.name, problem] as const;
  });
  return Object.fromEntries(
    problems.filter((entry): entry is readonly [string, string] => Boolean(entry[1])),
  );
}

/** Convert the form for a plan: numbers become numbers, lists sweeps, and `64M` is sent as `64 MiB`. */
export function toPlan(fields: readonly Field[], form: FormValue): FormValue {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const { options, sweep } = withTypedSweeps(fields, form);
  return {
    options: mapValues(options, (name, value) => planValue(byName.get(name), value)),
    sweep: mapValues(sweep, (name, values) => values.map((value) => planValue(byName.get(name), value))),
  };
}

/** Move lists that were typed as text to the sweep; one of a single value is that value. */
function withTypedSweeps(fields: readonly Field[], form: FormValue): FormValue {
  const { options, sweep } = { options: { ...form.options }, sweep: { ...form.sweep } };
  for (const field of fields) {
    const values = sweptValues(field, form);
    if (!values || sweep[field.name]) continue;
    delete options[field.name];
    if (values.length === 1) options[field.name] = values[0];
    else sweep[field.name] = [...values];
  }
  return { options, sweep };
}

function mapValues<From, To>(
  record: Record<string, From>,
  turn: (name: string, value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, turn(name, value)]));
}

function planValue(field: Field | undefined, value: unknown): unknown {
  if (field?.kind === "list" && Array.isArray(value))
    return value.map((entry) => planValue(field.item, entry));
  if (!field || typeof value !== "string") return value;
  if (value === "" && field.isNullable) return null;
  const choice = choiceOf(field, value);
  if (choice !== undefined) return choice;
  if (field.kind === "json") return jsonOrText(value);
  if (field.kind !== "integer" && field.kind !== "number") return value;
  const trimmed = field.unit === "bytes" ? spellSize(value).trim() : value.trim();
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/** Text that is not JSON, such as a size with its unit, is sent as text. The server validates it. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}
