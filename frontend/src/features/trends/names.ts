/** Short names for series: what they have in common is left out. */

import type { Series } from "@/api/types";
import { optionTitle, optionValue, type Values, varyingNames } from "@/lib/options";

/** By series id, for instance `disk · write · 256 MiB`; a lone series gets all its parts. */
export function nameSeries(series: readonly Series[]): Map<number, string> {
  const parts = series.map(partsOf);
  const varying = varyingNames(parts);
  const names = varying.length > 0 ? varying : Object.keys(parts[0] ?? {});
  return new Map(series.map(({ id }, index) => [id, joinParts(parts[index] ?? {}, names) || `series ${id}`]));
}

/** Labels repeat options of the same name; one of them is enough. */
function partsOf({ node_names, target_names, options, labels }: Series): Values {
  return { ...options, ...labels, nodes: node_names.join("+"), targets: target_names.join("+") };
}

const SPEAKS_FOR_ITSELF = new Set(["nodes", "targets", "operation"]);

function joinParts(parts: Values, names: readonly string[]): string {
  const ordered = [...names].sort(
    (a, b) => Number(SPEAKS_FOR_ITSELF.has(b)) - Number(SPEAKS_FOR_ITSELF.has(a)),
  );
  return ordered
    .filter((name) => parts[name] !== undefined && parts[name] !== "")
    .map((name) => {
      const value = optionValue(name, parts[name]);
      const hasUnit = /_(bytes|seconds)$/.test(name);
      return SPEAKS_FOR_ITSELF.has(name) || hasUnit ? value : `${optionTitle(name)} ${value}`;
    })
    .join(" · ");
}
