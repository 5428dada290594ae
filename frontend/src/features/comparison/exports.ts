/** Comparisons as the export menu writes them: a row for each number of each side, in base units; pure. */

import type {
  ComparedCell,
  ComparedMetric,
  ComparedPair,
  SideNumbers,
  SidesComparison,
  SideVerdict,
} from "@/api/types";
import { type ExportRecord, type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";
import type { Values } from "@/lib/options";
import { metricKey } from "./figures";

const OPTION = "options.";

/** Both sides of each pair; B stands against A. */
export function pairsTable(pairs: readonly ComparedPair[]): ExportTable {
  return recordTable(
    pairs.flatMap(({ a, b, metrics, is_alike }, place) =>
      metrics.flatMap((metric) => [
        {
          row: place + 1,
          ...sideColumns("A", null, a),
          ...numberColumns(metric, {
            ...metric,
            n: metric.n_a,
            values: metric.values_a,
            value: metric.median_a,
          }),
          ...verdictColumns(null, true),
        },
        {
          row: place + 1,
          ...sideColumns("B", "A", b),
          ...numberColumns(metric, {
            ...metric,
            n: metric.n_b,
            values: metric.values_b,
            value: metric.median_b,
          }),
          ...verdictColumns(metric, is_alike),
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
        .filter((metric) => key === undefined || metricKey(metric) === key)
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
                ...verdictColumns(metric.verdicts[place] ?? null, cell.is_alike),
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

/** Empty for a baseline; `median_ratio` is all that too few runs give. */
function verdictColumns(verdict: Omit<SideVerdict, "runs_missing"> | null, isAlike: boolean): ExportRecord {
  return {
    ratio: verdict?.ratio ?? null,
    ci_low: verdict?.low ?? null,
    ci_high: verdict?.high ?? null,
    median_ratio: verdict?.median_ratio ?? null,
    p: verdict?.p_value ?? null,
    verdict: verdict?.verdict ?? null,
    is_discovery: verdict?.is_discovery ?? null,
    is_alike: verdict && isAlike,
  };
}
