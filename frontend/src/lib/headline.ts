/** Words for the value of a run. */

import { t } from "@lingui/core/macro";
import { optionValue, plainTitle, type Values } from "./options";
import type { Unit } from "./units";

interface Named {
  readonly metric: string;
  readonly title: string;
  readonly labels: Values;
}

/** For example `write, 64 MiB`: operation and sizes, preceded by the metric's title unless it is throughput. */
export function headlineWords({ metric, title, labels }: Named): string {
  const { operation, writer } = labels;
  const sizes = Object.keys(labels).filter((name) => name.endsWith("_bytes"));
  const words = [
    ...(metric === "throughput" ? [] : [title]),
    ...(operation === undefined ? [] : [optionValue("operation", operation).replaceAll("_", " ")]),
    ...(writer === undefined ? [] : [`${plainTitle("writer").toLowerCase()} ${writer}`]),
    ...sizes.map((name) => optionValue(name, labels[name])),
    ...(labels.nodes === "all" ? [t`all nodes`] : []),
  ];
  return words.join(", ") || title;
}

/** Return `wrote` or `read` for a rate in bytes; undefined for other values. */
export function verbOf(operation: unknown, unit: Unit): string | undefined {
  if (unit !== "bytes_per_second") return undefined;
  const verbs = { write: t`wrote`, overwrite: t`overwrote`, rewrite: t`overwrote`, read: t`read` };
  return verbs[operation as keyof typeof verbs];
}
