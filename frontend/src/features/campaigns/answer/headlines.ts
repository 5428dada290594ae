/** Headline numbers of a campaign that compares nothing: its primary metrics. */

import type { CampaignMeasures, Cell, CellResult } from "@/api/types";
import { headlineWords } from "@/lib/headline";

const MOST_HEADLINES = 6;

export interface Headline {
  readonly key: string;
  readonly what: string;
  /** More than one if the campaign measured several configurations. */
  readonly results: readonly CellResult[];
}

type Metrics = CampaignMeasures["metrics"];

interface Measured {
  readonly workload: string;
  readonly result: CellResult;
}

/** Return `workload metric` of the primary metrics. */
export function primaryKeys(metrics: Metrics): ReadonlySet<string> {
  return new Set(metrics.filter((one) => one.is_primary).map((one) => `${one.workload} ${one.metric}`));
}

/** Return results of primary metrics. Single writers count only where there is no total. */
export function primaryResults(cells: readonly Cell[], metrics: Metrics): Measured[] {
  const primary = primaryKeys(metrics);
  return cells.flatMap(({ workload, results }) => {
    const own = results.filter(({ metric }) => primary.has(`${workload} ${metric}`));
    const whole = own.filter(({ labels }) => !("writer" in labels));
    return (whole.length > 0 ? whole : own).map((result) => ({ workload, result }));
  });
}

/** Return one headline for each workload, metric and operation. */
export function headlinesOf(cells: readonly Cell[], metrics: Metrics): Headline[] {
  const found = primaryResults(cells, metrics);
  const workloads = new Set(found.map(({ workload }) => workload));
  const groups = new Map<string, Measured[]>();
  for (const one of found) {
    const key = [one.workload, one.result.metric, one.result.labels.operation].join(" ");
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups]
    .map(([key, members]) => ({
      key,
      what: wordsFor(members, workloads.size > 1),
      results: members.map(({ result }) => result),
    }))
    .slice(0, MOST_HEADLINES);
}

function wordsFor(members: readonly Measured[], isOfMany: boolean): string {
  const [{ workload, result }] = members as [Measured];
  const { operation } = result.labels;
  const labels = members.length === 1 ? result.labels : operation === undefined ? {} : { operation };
  const words = headlineWords({ ...result, labels });
  return isOfMany ? `${workload}: ${words}` : words;
}
