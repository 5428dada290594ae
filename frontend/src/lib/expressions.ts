/** Arithmetic over options that workloads announce, with the same rules as iotide_wire.expressions. */

import type { Values } from "./options";

/** Return the value of an announced expression; NaN if it names something unknown. */
export function evaluate(expression: unknown, values: Values): number {
  if (!isRecord(expression)) return Number.NaN;
  const { kind, name, value } = expression;
  if (kind === "number") return Number(value);
  const named = typeof name === "string" ? values[name] : undefined;
  if (kind === "name") return numberOf(named);
  if (kind === "holds") return Number(Array.isArray(named) ? named.includes(value) : named === value);
  return apply(
    expression.op,
    argumentsOf(expression).map((one) => evaluate(one, values)),
  );
}

/** Return the options and facts that an expression depends on. */
export function namesIn(expression: unknown): string[] {
  if (!isRecord(expression)) return [];
  const own = typeof expression.name === "string" ? [expression.name] : [];
  return [...new Set([...own, ...argumentsOf(expression).flatMap(namesIn)])];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function argumentsOf({ args }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(args) ? args : [];
}

/** true counts as 1, a list as its length. */
function numberOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "number" || typeof value === "boolean" ? Number(value) : Number.NaN;
}

const OPERATORS: Readonly<Record<string, (one: number, other: number) => number>> = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "/": (one, other) => one / other,
  min: Math.min,
  max: Math.max,
};

function apply(op: unknown, numbers: readonly number[]): number {
  const operator = typeof op === "string" ? OPERATORS[op] : undefined;
  return operator && numbers.length > 0 ? numbers.reduce((one, other) => operator(one, other)) : Number.NaN;
}
