/** Text of options and labels, and the differences between sets of them. */

import { exactBytes, exactRate, formatDuration } from "./units";

export type Values = Readonly<Record<string, unknown>>;

export type TitleOf = (name: string) => string;

/** Titles of a workload's options; the default is the page's cluster. */
export type TitlesOf = (workload: string, clusterId?: number) => TitleOf;

/** `file_size_bytes` becomes “File size”, if the workload's schema has no title. */
export function plainTitle(name: string): string {
  const words = name.replace(/_(bytes|seconds|bytes_per_second)$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value with the unit in its name: `256 MiB`, `write + read`, `yes`, `p99.9`. */
export function optionValue(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => optionValue(name, item)).join(" + ");
  if (value === null || value === undefined || value === "") return "none";
  if (name === "percentile") return String(value).replace("_", ".");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && name.endsWith("_bytes")) return exactBytes(value);
  if (typeof value === "number" && name.endsWith("_bytes_per_second")) return exactRate(value);
  if (typeof value === "number" && name.endsWith("_seconds")) return formatDuration(value);
  if (typeof value === "string" && value.includes("\n")) return shortText(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** First line and number of lines of a long text; the plan has all of it. */
function shortText(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  return rest.length > 0 ? `${first} … (${rest.length + 1} lines)` : first;
}

/** For example `File size 256 MiB, Jobs 4`. */
export function describeValues(values: Values, titleOf: TitleOf, names = Object.keys(values)): string {
  return names
    .filter((name) => name in values)
    .map((name) => `${titleOf(name)} ${optionValue(name, values[name])}`)
    .join(", ");
}

/** Names whose values differ between rows, in order of appearance. */
export function varyingNames(rows: readonly Values[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.filter((name) => new Set(rows.map((row) => JSON.stringify(row[name]))).size > 1);
}

/** Describes a row by its differences from the others, or completely if there are none. */
export function describerAmong(rows: readonly Values[], titleOf: TitleOf): (values: Values) => string {
  const varying = varyingNames(rows);
  return (values) => describeValues(values, titleOf, varying.length > 0 ? varying : Object.keys(values));
}

interface Configured {
  readonly workload: string;
  readonly options: Values;
  readonly cluster_id?: number;
}

/** The same for rows of several workloads; each row is compared within its workload. */
export function describerByWorkload(
  rows: readonly Configured[],
  titlesOf: TitlesOf,
): (row: Configured) => string {
  const options = new Map<string, Values[]>();
  for (const row of rows) {
    const alike = options.get(row.workload) ?? [];
    alike.push(row.options);
    options.set(row.workload, alike);
  }
  const varying = new Map([...options].map(([name, alike]) => [name, varyingNames(alike)]));
  return ({ workload, options, cluster_id }) => {
    const names = varying.get(workload);
    if (names === undefined) return "";
    const shown = names.length > 0 ? names : Object.keys(options);
    return describeValues(options, titlesOf(workload, cluster_id), shown);
  };
}
