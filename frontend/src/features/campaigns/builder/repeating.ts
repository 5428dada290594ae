/** How the repeats of a draft follow each other: at once, spread over time, or until their interval is narrow. */

import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { CampaignPlan } from "@/api/types";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

export const DraftRepeating = z.object({
  mode: z.enum(["together", "spread", "adaptive"]),
  /** Time over which the repeats are released; used by `spread` only. */
  spread: z.string(),
  /** Wanted half width of the interval; used by `adaptive` only. */
  untilPercent: z.union([z.number(), z.literal("")]),
  /** Time for repeats, or empty; used by `adaptive` only. */
  budget: z.string(),
});
export type DraftRepeating = z.infer<typeof DraftRepeating>;

const LONGEST = 90 * 86_400;
export const FEWEST_ADAPTIVE = 8;
export const MOST_ADAPTIVE = 40;
export const MOST_PERCENT = 50;

export const TOGETHER: DraftRepeating = { mode: "together", spread: "3 d", untilPercent: 3, budget: "" };

export const MODES: readonly {
  readonly value: DraftRepeating["mode"];
  readonly label: string;
  readonly does: string;
}[] = [
  {
    value: "together",
    label: t`One after the other`,
    does: t`Configurations are interleaved (A B B A), so that slow drift affects all of them equally.`,
  },
  {
    value: "spread",
    label: t`Spread over time`,
    does: t`Repeats are released evenly. Comparisons then use the difference between days.`,
  },
  {
    value: "adaptive",
    label: t`Until the interval is narrow`,
    does: t`Each configuration runs 8 times, then 12, 16, 24 and 40 times, until the interval of its median is narrow.`,
  },
];

export function repeatingOf({ adaptive, spread_seconds }: CampaignPlan): DraftRepeating {
  if (adaptive)
    return {
      ...TOGETHER,
      mode: "adaptive",
      untilPercent: Math.round(adaptive.until_ratio * 1e10) / 1e8,
      budget: adaptive.seconds == null ? "" : exactSeconds(adaptive.seconds),
    };
  return spread_seconds == null
    ? TOGETHER
    : { ...TOGETHER, mode: "spread", spread: exactSeconds(spread_seconds) };
}

export function planRepeating({
  mode,
  spread,
  untilPercent,
  budget,
}: DraftRepeating): Pick<CampaignPlan, "adaptive" | "spread_seconds"> {
  return {
    adaptive:
      mode === "adaptive"
        ? {
            until_ratio: Number(untilPercent) / 100,
            seconds: budget.trim() === "" ? null : parseSeconds(budget),
          }
        : null,
    spread_seconds: mode === "spread" ? parseSeconds(spread) : null,
  };
}

/** Return why the time of a spread or a budget is invalid, or null. */
export function repeatingProblem({ mode, spread, budget }: DraftRepeating): string | null {
  const isGood = (seconds: number) => seconds > 0 && seconds <= LONGEST;
  const words = t`Enter more than 0 s and at most 90 d.`;
  if (mode === "spread") return durationProblem(spread, isGood, words);
  return mode === "adaptive" && budget.trim() !== "" ? durationProblem(budget, isGood, words) : null;
}

/** Return what is wrong with the number of repeats in this mode, or null. */
export function countProblem({ mode, untilPercent }: DraftRepeating, repeats: number | ""): string | null {
  if (repeats === "") return t`Enter the number of repeats.`;
  if (mode === "spread" && repeats < 2) return t`Spread at least two repeats.`;
  if (mode === "adaptive" && (repeats < FEWEST_ADAPTIVE || repeats > MOST_ADAPTIVE))
    return t`Enter a maximum of 8 to 40 repeats.`;
  if (mode === "adaptive" && untilPercent === "") return t`Enter the wanted width of the interval.`;
  return null;
}
