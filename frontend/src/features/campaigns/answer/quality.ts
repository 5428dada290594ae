/** Quality of the primary results of a campaign: what their flags say, and changes of the plan that avoid these. */

import type { Campaign } from "@/api/types";
import { rankOf } from "@/components/flagWords";
import type { Remedy } from "@/lib/remedies";
import { isRemedyOf, type Offered } from "../builder/remedies";
import { ENOUGH_RUNS, type ResultGroup, resultsOf } from "../results";

export interface Quality {
  readonly resultCount: number;
  /** Flags on all results, worst first. */
  readonly common: readonly string[];
  /** Flags on some results that make these doubtful or the plan too small. */
  readonly partial: readonly PartialFlag[];
  /** Number of results with too few runs for an interval. */
  readonly fewCount: number;
  /** Changes of the plan that avoid common flags. */
  readonly remedies: readonly Remedy[];
}

export interface PartialFlag {
  readonly code: string;
  readonly resultCount: number;
  /** Smallest and largest spread of these results; null where no spread is known. */
  readonly spread: readonly [number, number] | null;
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
const DISTURBED = 3;

export function qualityOf(
  primary: readonly ResultGroup[],
  plan: Campaign["plan"],
  offered: Offered,
): Quality {
  const results = resultsOf(primary);
  const found = [...new Set(results.flatMap(({ flags }) => flags))]
    .filter((code) => code !== PUBLISHED)
    .map((code) => ({ code, having: results.filter(({ flags }) => flags.includes(code)) }))
    .sort((a, b) => rankOf(a.code) - rankOf(b.code) || b.having.length - a.having.length);
  const isCommon = ({ having }: { readonly having: readonly unknown[] }) => having.length === results.length;
  const common = found.filter(isCommon).map(({ code }) => code);
  const best = common.flatMap(
    (code) => REMEDIES_OF[code]?.find((remedy) => isRemedyOf(plan, remedy, offered)) ?? [],
  );
  return {
    resultCount: results.length,
    common,
    partial: found
      .filter((one) => !isCommon(one) && rankOf(one.code) !== DISTURBED)
      .map(({ code, having }) => ({
        code,
        resultCount: having.length,
        spread: rangeOf(having.flatMap(({ variation_ratio: ratio }) => ratio ?? [])),
      })),
    fewCount: results.filter(({ n }) => n < ENOUGH_RUNS).length,
    remedies: [...new Set(best)],
  };
}

function rangeOf(ratios: readonly number[]): PartialFlag["spread"] {
  return ratios.length > 0 ? [Math.min(...ratios), Math.max(...ratios)] : null;
}

/** Return true if one of the remedies avoids the flag. */
export function isAvoided(code: string, remedies: readonly Remedy[]): boolean {
  return REMEDIES_OF[code]?.some((remedy) => remedies.includes(remedy)) ?? false;
}
