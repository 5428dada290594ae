import * as z from "zod/mini";
import { plainTitle } from "@/lib/options";

const RawSchema = z.record(z.string(), z.unknown());
const ConstantSchema = z.union([z.string(), z.number(), z.boolean()]);
const PropertySchema = z.object({
  type: z.optional(z.string()),
  enum: z.optional(z.array(z.nullable(ConstantSchema))),
  const: z.optional(z.nullable(ConstantSchema)),
  $ref: z.optional(z.string()),
  anyOf: z.optional(z.array(RawSchema)),
  oneOf: z.optional(z.array(RawSchema)),
  allOf: z.optional(z.array(RawSchema)),
  items: z.optional(RawSchema),
  prefixItems: z.optional(z.array(RawSchema)),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  default: z.optional(z.unknown()),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  exclusiveMinimum: z.optional(z.number()),
  minItems: z.optional(z.number()),
  maxItems: z.optional(z.number()),
  uniqueItems: z.optional(z.boolean()),
  "x-unit": z.optional(z.string()),
  "x-multiline": z.optional(z.boolean()),
});
const OptionsSchema = z.object({
  properties: z.optional(z.record(z.string(), RawSchema)),
  required: z.optional(z.array(z.string())),
  $defs: z.optional(z.record(z.string(), RawSchema)),
});
type Raw = z.infer<typeof RawSchema>;
type Property = z.infer<typeof PropertySchema>;
type Definitions = Readonly<Record<string, Raw>>;

export type Constant = z.infer<typeof ConstantSchema>;

const FIELD_UNITS = ["bytes", "bytes_per_second", "seconds"] as const;
export type FieldUnit = (typeof FIELD_UNITS)[number];

interface Option {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly unit: FieldUnit | undefined;
  /** All values of a choice or switch. For other kinds, extra values such as `auto` for a size. */
  readonly choices: readonly Constant[];
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly defaultValue: unknown;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: number | undefined;
  readonly maximum: number | undefined;
}

export interface Scalar extends Option {
  /** "json" has no input of its own: mixed types, a tuple, a mapping, a list of lists. */
  readonly kind: "choice" | "boolean" | "integer" | "number" | "text" | "lines" | "json";
}

export interface List extends Option {
  readonly kind: "list";
  readonly item: Scalar;
  readonly minItems: number;
  readonly maxItems: number;
  readonly hasUniqueItems: boolean;
}

export type Field = Scalar | List;

export function readFields(schema: unknown): Field[] {
  const { properties = {}, required = [], $defs = {} } = OptionsSchema.parse(schema);
  return Object.entries(properties).map(([name, raw]) => {
    const resolved = resolve(raw, $defs);
    const isRequired = required.includes(name);
    return isPlainList(resolved, $defs)
      ? toList(name, resolved, isRequired, $defs)
      : toScalar(name, resolved, isRequired);
  });
}

/** Long texts and lists cannot be swept. */
export function canSweep(field: Field): boolean {
  return field.kind !== "list" && field.kind !== "lines";
}

interface Resolved {
  /** The alternative without constants (of numbers, the widest), or else the first alternative. */
  readonly property: Property;
  readonly isMixed: boolean;
  readonly choices: readonly Constant[];
  readonly isNullable: boolean;
}

function resolve(raw: Raw, defs: Definitions): Resolved {
  const alternatives = alternativesOf(raw, defs);
  const others = alternatives.filter(({ type }) => type !== "null");
  const named = alternatives.flatMap(constantsOf);
  const free = others.filter((other) => constantsOf(other).length === 0);
  const types = new Set(free.map(({ type }) => (type === "integer" ? "number" : type)));
  return {
    property: free.find(({ type }) => type === "number") ?? free[0] ?? others[0] ?? {},
    isMixed: types.size > 1 || free.filter(({ type }) => type === "array").length > 1,
    choices: [...new Set(named)].filter((constant) => constant !== null),
    isNullable: others.length < alternatives.length || named.includes(null),
  };
}

/** Return the members of a union, merged with its common keywords, or the schema itself. Follows references. */
function alternativesOf(raw: Raw, defs: Definitions): Property[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [], ...own } = PropertySchema.parse(raw);
  const referred = $ref === undefined ? [] : [defs[$ref.replace("#/$defs/", "")] ?? {}];
  const members = [...anyOf, ...oneOf, ...allOf.slice(0, 1), ...referred];
  if (members.length === 0) return [own];
  return members.flatMap((member) => alternativesOf(member, defs)).map((member) => ({ ...member, ...own }));
}

function constantsOf(property: Property): readonly (Constant | null)[] {
  if (property.const !== undefined) return [property.const];
  return property.enum ?? (property.type === "boolean" ? [true, false] : []);
}

function toOption(name: string, { property, choices, isNullable }: Resolved, isRequired: boolean): Option {
  return {
    name,
    title: property.title ?? plainTitle(name),
    description: property.description,
    unit: FIELD_UNITS.find((unit) => unit === property["x-unit"]),
    choices,
    isRequired,
    isNullable,
    defaultValue: property.default,
    minimum: property.minimum,
    exclusiveMinimum: property.exclusiveMinimum,
    maximum: property.maximum,
  };
}

/** Return whether it is a list whose entries are all of one kind other than lists. */
function isPlainList({ property, isMixed }: Resolved, defs: Definitions): boolean {
  if (property.type !== "array" || property.prefixItems || isMixed) return false;
  return kindOf(resolve(property.items ?? {}, defs)) !== "json";
}

function toScalar(name: string, resolved: Resolved, isRequired: boolean): Scalar {
  return { ...toOption(name, resolved, isRequired), kind: kindOf(resolved) };
}

function toList(name: string, resolved: Resolved, isRequired: boolean, defs: Definitions): List {
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems } = resolved.property;
  return {
    ...toOption(name, resolved, isRequired),
    kind: "list",
    item: toScalar(name, resolve(items, defs), false),
    minItems,
    maxItems,
    hasUniqueItems: uniqueItems === true,
  };
}

/** A switch has exactly two states: it can be neither null nor anything else. */
function kindOf({ property, choices, isNullable, isMixed }: Resolved): Scalar["kind"] {
  if (isMixed || property.type === "array" || property.type === "object") return "json";
  const isSwitch =
    !isNullable && choices.length === 2 && choices.every((choice) => typeof choice === "boolean");
  if (constantsOf(property).length > 0) return isSwitch ? "boolean" : "choice";
  if (property.type === "integer" || property.type === "number") return property.type;
  return property["x-multiline"] ? "lines" : "text";
}
