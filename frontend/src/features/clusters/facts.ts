/** Short description of a node. */

import { t } from "@lingui/core/macro";
import type { Node } from "@/api/types";
import { formatValue } from "@/lib/units";

type Facts = Node["facts"];

/** For example `64 CPUs, 24 GiB, Linux 6.18.5`; unknown facts are left out. */
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
