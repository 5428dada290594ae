/** Options and labels as a person reads them, and what distinguishes one set of them from another. */

import { exactBytes, formatDuration } from "./units";

export type Values = Readonly<Record<string, unknown>>;

/** `file_size_bytes` is read as “file size”: the unit stands with the value. */
export function optionTitle(name: string): string {
  return name.replace(/_(bytes|seconds)$/, "").replaceAll("_", " ");
}

/** A value with the unit that its name tells: `256 MiB`, `write + read`, `yes`. */
export function optionValue(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => optionValue(name, item)).join(" + ");
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && name.endsWith("_bytes")) return exactBytes(value);
  if (typeof value === "number" && name.endsWith("_seconds")) return formatDuration(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** All values in one line: `file size 256 MiB, direct auto`. */
export function describeValues(values: Values, names: readonly string[] = Object.keys(values)): string {
  return names
    .filter((name) => name in values)
    .map((name) => `${optionTitle(name)} ${optionValue(name, values[name])}`)
    .join(", ");
}

/** The names whose values are not the same in every row, in the order in which they first appear. */
export function varyingNames(rows: readonly Values[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.filter((name) => new Set(rows.map((row) => JSON.stringify(row[name]))).size > 1);
}

/** What tells the rows of one workload apart; everything where nothing does. */
export function describeAmong(values: Values, rows: readonly Values[]): string {
  const varying = varyingNames(rows);
  return varying.length > 0 ? describeValues(values, varying) : describeValues(values);
}
