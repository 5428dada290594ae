/** Headline numbers of a campaign that compares nothing: its primary metrics. */

import type { CellResult } from "@/api/types";
import { groupBy } from "@/lib/grouping";
import { headlineWords } from "@/lib/headline";
import type { ResultGroup, ResultRow } from "../results";

const MOST_HEADLINES = 6;

export interface Headline {
  readonly key: string;
  readonly what: string;
  /** More than one if the campaign measured several configurations. */
  readonly results: readonly CellResult[];
}

/** Return one headline for each workload, metric and operation. */
export function headlinesOf(primary: readonly ResultGroup[]): Headline[] {
  const isOfMany = new Set(primary.map(({ workload }) => workload)).size > 1;
  return primary
    .flatMap(({ key, workload, rows }) =>
      [...groupBy(inOrderOfRun(rows), ({ result }) => String(result.labels.operation))].map(
        ([operation, members]) => {
          const results = members.map(({ result }) => result);
          const words = wordsFor(results);
          return { key: `${key} ${operation}`, what: isOfMany ? `${workload}: ${words}` : words, results };
        },
      ),
    )
    .slice(0, MOST_HEADLINES);
}

/** Rows are in order of their words; a workload writes before it reads. */
function inOrderOfRun(rows: readonly ResultRow[]): readonly ResultRow[] {
  const places = new Map(rows.flatMap(({ cell }) => cell.results.map((result, place) => [result, place])));
  return rows.toSorted((a, b) => (places.get(a.result) ?? 0) - (places.get(b.result) ?? 0));
}

function wordsFor(results: readonly CellResult[]): string {
  const [first] = results as [CellResult];
  const { operation } = first.labels;
  if (results.length === 1) return headlineWords(first);
  return headlineWords({ ...first, labels: operation === undefined ? {} : { operation } });
}
