/** Name of a run's value in lists. */

import { t } from "@lingui/core/macro";
import { optionValue, plainTitle, type Values } from "./options";

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
