import { t } from "@lingui/core/macro";
import {
  exactBytes,
  exactRate,
  exactSeconds,
  parseBytes,
  parseRate,
  parseSeconds,
  UnitError,
} from "@/lib/units";
import type { Constant, Field, List, Scalar } from "./schema";

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
  if (field.unit === "bytes") return parseBytes(text);
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
    const values = sweep[field.name];
    const problem = values ? severalProblem(field, values, 1) : problemOf(field, options[field.name]);
    return [field.name, problem] as const;
  });
  return Object.fromEntries(
    problems.filter((entry): entry is readonly [string, string] => Boolean(entry[1])),
  );
}

/** Convert the form for a plan: numbers become numbers, texts with a unit stay as written. */
export function toPlan(fields: readonly Field[], { options, sweep }: FormValue): FormValue {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return {
    options: mapValues(options, (name, value) => planValue(byName.get(name), value)),
    sweep: mapValues(sweep, (name, values) => values.map((value) => planValue(byName.get(name), value))),
  };
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
  const trimmed = value.trim();
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
