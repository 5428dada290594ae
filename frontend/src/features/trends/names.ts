/** Short names of series, without what they have in common. */

import { t } from "@lingui/core/macro";
import type { Series } from "@/api/types";
import { optionValue, type TitleOf, type Values, varyingNames } from "@/lib/options";

/** Names by series id, for example `disk · write · File size 256 MiB`. A single series gets all parts. */
export function nameSeries(series: readonly Series[], titleOf: TitleOf): Map<number, string> {
  const parts = series.map(partsOf);
  const varying = varyingNames(parts);
  const said = Object.entries(parts[0] ?? {}).filter(([, value]) => value !== "");
  const ordered = inOrder(varying.length > 0 ? varying : said.map(([part]) => part));
  const options = new Set(series.flatMap((one) => Object.keys(one.options)));
  const name = (values: Values) =>
    ordered
      .map((part) => namePart(part, values[part], titleOf(part), options.has(part)))
      .filter(Boolean)
      .join(" · ");
  return new Map(series.map(({ id }, index) => [id, name(parts[index] ?? {}) || t`series ${id}`]));
}

/** Stage variant; series outside stages have none. */
export function nameVariant(variant: string): string {
  return variant || t`outside stages`;
}

/** Labels may repeat options of the same name. */
function partsOf({ node_names, target_names, variant, options, labels }: Series): Values {
  return { ...options, ...labels, nodes: node_names.join("+"), targets: target_names.join("+"), variant };
}

const SPEAKS_FOR_ITSELF = new Set(["nodes", "targets", "variant", "operation", "percentile"]);

/** Parts without a title come first. */
function inOrder(names: readonly string[]): string[] {
  return [...names].sort((a, b) => Number(SPEAKS_FOR_ITSELF.has(b)) - Number(SPEAKS_FOR_ITSELF.has(a)));
}

/** Series only contain options that differ from the default. */
function namePart(name: string, value: unknown, title: string, isOption: boolean): string {
  if (name === "variant") return nameVariant(String(value));
  if (value === undefined || value === "") return isOption ? `${title} default` : "";
  const text = optionValue(name, value);
  return SPEAKS_FOR_ITSELF.has(name) ? text : `${title} ${text}`;
}

const MOST_NAMES = 3;

/** Title of the drawn series, for example `Throughput of dd · scratch · c01, c02 · hpc1`. The series have one metric. */
export function trendTitle(drawn: readonly Series[], clusterName: string): string {
  const [first] = drawn;
  if (!first) return t`Trend of ${clusterName}`;
  const targets = distinct(drawn.flatMap(({ target_names }) => target_names));
  const nodes = distinct(drawn.flatMap(({ node_names }) => node_names));
  const places = [
    targets.length > MOST_NAMES ? t`${targets.length} targets` : targets.join(", "),
    nodes.length > MOST_NAMES ? t`${nodes.length} nodes` : nodes.join(", "),
    clusterName,
  ];
  return [t`${first.title} of ${first.workload}`, ...places].filter(Boolean).join(" · ");
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
