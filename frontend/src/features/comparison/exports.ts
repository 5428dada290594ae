/** Exported tables of comparisons, in base units. */

import { verdictColumns } from "@/components/export/verdictColumns";
import { type ExportRecord, type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";
import { type Compared, metricKey } from "./compared";

/** One row per measured side and metric; for one key or all. */
export function comparedTable({ names, against, rows }: Compared, key?: string): ExportTable {
  return recordTable(
    rows.flatMap(({ cells, metrics }, at) =>
      metrics
        .filter((metric) => key === undefined || metricKey(metric) === key)
        .flatMap((metric) =>
          metric.numbers.flatMap((numbers, place): ExportRecord[] => {
            const cell = cells[place];
            const verdict = metric.verdicts[place] ?? null;
            if (!cell || !numbers) return [];
            return [
              {
                row: at + 1,
                side: names[place] ?? "",
                against: place === against ? null : (names[against] ?? null),
                campaign_id: cell.campaign_id,
                cell_id: cell.cell_id,
                cell: cell.ordinal,
                nodes: plainCell(cell.node_names),
                targets: plainCell(cell.target_names),
                variant: cell.variant || null,
                workload: cell.workload,
                ...spread("option_", cell.options),
                metric: metric.metric,
                ...spread("label_", metric.labels),
                target: metric.target_name,
                value: numbers.median,
                low: Math.min(...numbers.values),
                high: Math.max(...numbers.values),
                n: numbers.n,
                unit: metric.unit,
                flags: numbers.flags.join(" "),
                ...verdictColumns(verdict),
                is_alike: verdict && cell.is_alike,
              },
            ];
          }),
        ),
    ),
  );
}
