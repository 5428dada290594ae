/** Export of the table of runs: one row a run, one column an option; pure. */

import type { ExplorerRun } from "@/api/types";
import { type ExportRecord, type ExportTable, plainCell, recordTable, spread } from "@/lib/exported";
import { ratioOf } from "./view";

/** Options are those that differ from the workload's defaults. Value and unit are the headline's. */
export function runsTable(runs: readonly ExplorerRun[], baseline?: ExplorerRun): ExportTable {
  return recordTable(
    runs.map((run) => ({
      run_id: run.id,
      at: run.at,
      state: run.state,
      validity: run.validity,
      cluster: run.cluster_name,
      nodes: plainCell(run.node_names),
      targets: plainCell(run.target_names),
      variant: run.variant || null,
      workload: run.workload,
      ...spread("option_", run.options),
      ...headlineColumns(run),
      ...(baseline && { ratio_to_baseline: ratioOf(run, baseline) ?? null }),
      flags: plainCell(run.flags),
      duration_seconds: run.duration_seconds,
      campaign_id: run.campaign_id,
      campaign: run.campaign_name,
      cell_id: run.cell_id,
      cell: run.cell_ordinal,
      repeat: run.repeat,
    })),
  );
}

function headlineColumns({ headline }: ExplorerRun): ExportRecord {
  return {
    metric: headline?.metric ?? null,
    ...spread("label_", headline?.labels ?? {}),
    value: headline?.value ?? null,
    unit: headline?.unit ?? null,
  };
}
