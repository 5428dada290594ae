import type { SideVerdict } from "@/api/types";
import type { ExportRecord } from "@/lib/exported";

/** Return empty columns for a baseline, and `median_ratio` only with too few runs for a verdict. */
export function verdictColumns(verdict: Omit<SideVerdict, "runs_missing" | "reasons"> | null): ExportRecord {
  return {
    ratio: verdict?.ratio ?? null,
    ci_low: verdict?.low ?? null,
    ci_high: verdict?.high ?? null,
    median_ratio: verdict?.median_ratio ?? null,
    p: verdict?.p_value ?? null,
    verdict: verdict?.verdict ?? null,
    is_discovery: verdict?.is_discovery ?? null,
    basis: verdict?.basis ?? null,
    looks: verdict?.looks ?? null,
  };
}
