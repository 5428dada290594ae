/** Cautions that concern all results of a campaign, with what avoids them. */

import type { Campaign, CampaignMeasures, Cell } from "@/api/types";
import { commonTo } from "@/components/flagWords";
import type { Remedy } from "@/lib/remedies";
import { isRemedyOf, type Offered } from "../builder/remedies";
import { ENOUGH_RUNS } from "../results";
import { primaryResults } from "./headlines";

export interface Cautions {
  /** Number of results looked at. */
  readonly resultCount: number;
  /** Flags on every one of them. */
  readonly codes: readonly string[];
  /** Number of results with too few runs for an interval. */
  readonly fewCount: number;
  /** Changes of the plan that avoid these flags. */
  readonly remedies: readonly Remedy[];
}

/** Remedies of a flag, the best first. */
const REMEDIES_OF: Readonly<Record<string, readonly Remedy[]>> = {
  CACHE_SIZE: ["auto_size"],
  DURATION: ["auto_size"],
  ZEROES: ["random_data"],
  FOREIGN_LOAD: ["wait_idle"],
  LOAD_NOT_MEASURED: ["auto_size", "wait_idle"],
};

/** Marks published numbers, not a fault of the measurement. */
const PUBLISHED = "PUBLISHED";

export function commonCautions(
  cells: readonly Cell[],
  metrics: CampaignMeasures["metrics"],
  plan: Campaign["plan"],
  offered: Offered,
): Cautions {
  const results = primaryResults(cells, metrics).map(({ result }) => result);
  const codes = commonTo(results.map(({ flags }) => flags)).filter((code) => code !== PUBLISHED);
  const best = codes.flatMap(
    (code) => REMEDIES_OF[code]?.find((remedy) => isRemedyOf(plan, remedy, offered)) ?? [],
  );
  return {
    resultCount: results.length,
    codes,
    fewCount: results.filter(({ n }) => n < ENOUGH_RUNS).length,
    remedies: [...new Set(best)],
  };
}

/** Return true if one of the remedies avoids the flag. */
export function isAvoided(code: string, remedies: readonly Remedy[]): boolean {
  return REMEDIES_OF[code]?.some((remedy) => remedies.includes(remedy)) ?? false;
}
