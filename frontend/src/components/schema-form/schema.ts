/** Reads a workload's JSON Schema into fields, and checks what was entered as far as that needs no server. */

import * as z from "zod/mini";
import { plainTitle } from "@/lib/options";
import {
  exactBytes,
  exactRate,
  exactSeconds,
  parseBytes,
  parseRate,
  parseSeconds,
  UnitError,
} from "@/lib/units";

const PropertySchema = z.object({
  type: z.optional(z.string()),
  enum: z.optional(z.array(z.union([z.string(), z.number()]))),
  const: z.optional(z.union([z.string(), z.number()])),
  $ref: z.optional(z.string()),
  anyOf: z.optional(z.array(z.record(z.string(), z.unknown()))),
  allOf: z.optional(z.array(z.record(z.string(), z.unknown()))),
  items: z.optional(z.record(z.string(), z.unknown())),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  default: z.optional(z.unknown()),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  exclusiveMinimum: z.optional(z.number()),
  "x-unit": z.optional(z.string()),
  "x-multiline": z.optional(z.boolean()),
});
type Property = z.infer<typeof PropertySchema>;

const OptionsSchema = z.object({
  properties: z.optional(z.record(z.string(), z.record(z.string(), z.unknown()))),
  required: z.optional(z.array(z.string())),
  $defs: z.optional(z.record(z.string(), z.record(z.string(), z.unknown()))),
});

export type FieldKind = "choice" | "choices" | "boolean" | "integer" | "number" | "text" | "lines";

const FIELD_UNITS = ["bytes", "bytes_per_second", "seconds"] as const;
export type FieldUnit = (typeof FIELD_UNITS)[number];

/** One option of a workload as a form shows it. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: FieldKind;
  readonly unit: FieldUnit | undefined;
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly defaultValue: unknown;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: number | undefined;
  readonly maximum: number | undefined;
}

/** The fields of an options schema, in its order. */
export function readFields(schema: unknown): Field[] {
  const { properties = {}, required = [], $defs = {} } = OptionsSchema.parse(schema);
  return Object.entries(properties).map(([name, raw]) => {
    const { property, isNullable } = resolve(raw, $defs);
    return toField(name, property, isNullable, required.includes(name), $defs);
  });
}

/** Follows references and takes the non-null branch of a union. */
function resolve(raw: Record<string, unknown>, defs: Record<string, Record<string, unknown>>) {
  const branches = PropertySchema.parse(raw).anyOf ?? [];
  const isNullable = branches.some((branch) => branch.type === "null");
  const inner =
    branches.find((branch) => branch.type !== "null") ?? PropertySchema.parse(raw).allOf?.[0] ?? {};
  const merged = { ...inner, ...raw };
  const reference = PropertySchema.parse(merged).$ref?.replace("#/$defs/", "");
  const property = PropertySchema.parse({ ...(reference ? defs[reference] : {}), ...merged });
  return { property, isNullable };
}

function toField(
  name: string,
  property: Property,
  isNullable: boolean,
  isRequired: boolean,
  defs: Record<string, Record<string, unknown>>,
): Field {
  const items = property.items ? resolve(property.items, defs).property : undefined;
  const choices = choicesOf(property) ?? (items && choicesOf(items));
  return {
    name,
    title: property.title ?? plainTitle(name),
    description: property.description,
    kind: kindOf(property, choices),
    unit: FIELD_UNITS.find((unit) => unit === property["x-unit"]),
    choices: choices ?? [],
    isRequired,
    isNullable,
    defaultValue: property.default,
    minimum: property.minimum,
    exclusiveMinimum: property.exclusiveMinimum,
    maximum: property.maximum,
  };
}

function choicesOf(property: Property): string[] | undefined {
  if (property.const !== undefined) return [String(property.const)];
  return property.enum?.map(String);
}

function kindOf(property: Property, choices: readonly string[] | undefined): FieldKind {
  if (property.type === "array") return "choices";
  if (choices) return "choice";
  if (property.type === "boolean" || property.type === "integer" || property.type === "number")
    return property.type;
  return property["x-multiline"] ? "lines" : "text";
}

/** Arrays and long texts are values of their own; everything else can be tried with several values. */
export function canSweep(field: Field): boolean {
  return field.kind !== "choices" && field.kind !== "lines";
}

/** The value as the text of an input, in the largest unit that is exact. */
export function valueText(field: Field, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (field.unit === "bytes") return exactBytes(value);
  if (field.unit === "bytes_per_second") return exactRate(value);
  return field.unit === "seconds" ? exactSeconds(value) : String(value);
}

/** Why a value cannot be accepted, or null. */
export function problemOf(field: Field, value: unknown): string | null {
  if (value === undefined) return field.isRequired ? "This option has no default: give a value." : null;
  if (value === null || value === "")
    return field.isNullable || field.kind === "text" || field.kind === "lines" ? null : "Give a value.";
  if (field.kind === "choices")
    return Array.isArray(value) && value.length > 0 ? null : "Choose at least one.";
  if (field.kind !== "integer" && field.kind !== "number") return null;
  try {
    return rangeProblem(field, toNumber(field, value));
  } catch (error) {
    if (error instanceof UnitError) return error.message;
    throw error;
  }
}

function toNumber(field: Field, value: unknown): number {
  if (typeof value === "number") return value;
  if (field.unit === "bytes") return parseBytes(String(value));
  if (field.unit === "bytes_per_second") return parseRate(String(value));
  if (field.unit === "seconds") return parseSeconds(String(value));
  return Number(value);
}

function rangeProblem(field: Field, value: number): string | null {
  if (!Number.isFinite(value)) return "Give a number.";
  if (field.kind === "integer" && !Number.isInteger(value)) return "Give a whole number.";
  if (field.minimum !== undefined && value < field.minimum)
    return `At least ${valueText(field, field.minimum)}.`;
  if (field.maximum !== undefined && value > field.maximum)
    return `At most ${valueText(field, field.maximum)}.`;
  const above = field.exclusiveMinimum;
  return above !== undefined && value <= above ? `More than ${valueText(field, above)}.` : null;
}

/** Options and sweeps of one workload, as a plan holds them. */
export interface FormValue {
  readonly options: Record<string, unknown>;
  readonly sweep: Record<string, unknown[]>;
}

/** Problems by option name; empty where the form can be sent. */
export function problemsOf(fields: readonly Field[], { options, sweep }: FormValue): Record<string, string> {
  const problems = fields.map((field) => {
    const values = sweep[field.name];
    if (values === undefined) return [field.name, problemOf(field, options[field.name])] as const;
    if (values.length === 0) return [field.name, "Give at least one value."] as const;
    return [
      field.name,
      values.map((value) => problemOf(field, value)).find((problem) => problem !== null),
    ] as const;
  });
  return Object.fromEntries(
    problems.filter((entry): entry is readonly [string, string] => Boolean(entry[1])),
  );
}

/** The form as a plan sends it: numbers become numbers, texts with a unit stay as they were written. */
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
  if (typeof value !== "string" || (field?.kind !== "integer" && field?.kind !== "number")) return value;
  const trimmed = value.trim();
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}
