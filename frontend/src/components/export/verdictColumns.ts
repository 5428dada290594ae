/** Columns of a verdict, the same wherever two sides are compared. */

import type { SideVerdict } from "@/api/types";
import type { ExportRecord } from "@/lib/exported";

/** Empty for a baseline; `median_ratio` is all that too few runs give. */
export function verdictColumns(verdict: Omit<SideVerdict, "runs_missing"> | null): ExportRecord {
  return {
    ratio: verdict?.ratio ?? null,
    ci_low: verdict?.low ?? null,
    ci_high: verdict?.high ?? null,
    median_ratio: verdict?.median_ratio ?? null,
    p: verdict?.p_value ?? null,
    verdict: verdict?.verdict ?? null,
    is_discovery: verdict?.is_discovery ?? null,
  };
}
