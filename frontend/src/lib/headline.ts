/** Which number of a run stands in a list; pure. */

import { t } from "@lingui/core/macro";
import { optionValue, plainTitle, type Values } from "./options";

interface Named {
  readonly metric: string;
  readonly title: string;
  readonly labels: Values;
}

/** `write, 64 MiB`: the operation and the sizes, behind the metric's title unless it is the throughput itself. */
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
