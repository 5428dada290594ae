/** The few facts of a node that fit into a line. */

import { t } from "@lingui/core/macro";
import type { Node } from "@/api/types";
import { formatValue } from "@/lib/units";

type Facts = Node["facts"];

/** `64 CPUs, 24 GiB, Linux 6.18.5`; what is unknown is left out. */
export function describeNode(facts: Facts): string {
  const cpus = facts["cpu.count"];
  const memoryBytes = facts["memory.total_bytes"];
  const kernel = facts["kernel.release"];
  return [
    typeof cpus === "number" ? t`${cpus} CPUs` : "",
    typeof memoryBytes === "number" ? formatValue(memoryBytes, "bytes") : "",
    kernel ? t`Linux ${String(kernel)}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
