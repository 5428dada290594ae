/** Comparisons as the export menu writes them: a row for each number of each side, in base units; pure. */

import type { ComparedCell, ComparedMetric, ComparedPair, SideNumbers, SidesComparison } from "@/api/types";
import { verdictColumns } from "@/components/export/verdictColumns";
import { type ExportRecord, type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";
import type { Values } from "@/lib/options";
import { metricKey } from "./figures";

const OPTION = "options.";

/** Both sides of each pair, B against A; the numbers of one key, or all of them. */
export function pairsTable(pairs: readonly ComparedPair[], key?: string): ExportTable {
  return recordTable(
    pairs.flatMap(({ a, b, metrics, is_alike }, place) =>
      metrics
        .filter((metric) => isWanted(metric, key))
        .flatMap((metric) => [
          {
            row: place + 1,
            ...sideColumns("A", null, a),
            ...numberColumns(metric, {
              n: metric.n_a,
              values: metric.values_a,
              value: metric.median_a,
              flags: metric.flags_a,
            }),
            ...verdictColumns(null),
            is_alike: null,
          },
          {
            row: place + 1,
            ...sideColumns("B", "A", b),
            ...numberColumns(metric, {
              n: metric.n_b,
              values: metric.values_b,
              value: metric.median_b,
              flags: metric.flags_b,
            }),
            ...verdictColumns(metric),
            is_alike,
          },
        ]),
    ),
  );
}

/** Each measured side of each row against the baseline; the numbers of one key, or all of them. */
export function sidesTable(found: SidesComparison, names: readonly string[], key?: string): ExportTable {
  const { against, rows } = found;
  return recordTable(
    rows.flatMap((row, at) =>
      row.metrics
        .filter((metric) => isWanted(metric, key))
        .flatMap((metric) =>
          metric.numbers.flatMap((numbers, place): ExportRecord[] => {
            const cell = row.cells[place];
            if (!cell || !numbers) return [];
            const base = place === against ? null : (names[against] ?? null);
            const options = { ...row.options, ...optionsOfSide(found, row, place) };
            return [
              {
                row: at + 1,
                ...sideColumns(names[place] ?? "", base, { ...cell, workload: row.workload, options }),
                ...numberColumns(metric, { ...numbers, value: numbers.median }),
                ...verdictColumns(metric.verdicts[place] ?? null),
                is_alike: metric.verdicts[place] ? cell.is_alike : null,
              },
            ];
          }),
        ),
    ),
  );
}

/** Options that are not the same on all sides. */
function optionsOfSide(
  { by, sides }: SidesComparison,
  { differences }: SidesComparison["rows"][number],
  place: number,
): Values {
  const unlike = [{ name: by ?? "", values: sides }, ...differences];
  return Object.fromEntries(
    unlike.flatMap(({ name, values }) =>
      name.startsWith(OPTION) ? [[name.slice(OPTION.length), values[place]]] : [],
    ),
  );
}

function sideColumns(side: string, against: string | null, cell: ComparedCell): ExportRecord {
  return {
    side,
    against,
    campaign_id: cell.campaign_id,
    cell_id: cell.cell_id,
    cell: cell.ordinal,
    nodes: plainCell(cell.node_names),
    targets: plainCell(cell.target_names),
    variant: cell.variant || null,
    workload: cell.workload,
    ...spread("option_", cell.options),
  };
}

interface Numbers extends Pick<SideNumbers, "n" | "values" | "flags"> {
  readonly value: number;
}

function numberColumns(
  metric: Pick<ComparedMetric, "metric" | "labels" | "target_name" | "unit">,
  { value, values, n, flags }: Numbers,
): ExportRecord {
  return {
    metric: metric.metric,
    ...spread("label_", metric.labels),
    target: metric.target_name,
    value,
    low: Math.min(...values),
    high: Math.max(...values),
    n,
    unit: metric.unit,
    flags: flags.join(" "),
  };
}

function isWanted(metric: Parameters<typeof metricKey>[0], key: string | undefined): boolean {
  return key === undefined || metricKey(metric) === key;
}
