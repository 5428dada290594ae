/** Parts of the sentences of an answer. */

import { t } from "@lingui/core/macro";
import type { Contrast } from "./contrasts";

const MOST_NAMED = 3;

export interface Sentence {
  readonly key: string;
  readonly claim: string;
  /** Where the claim holds, its interval and number of runs. */
  readonly detail: string;
  /** Number of repeats that settle the question, 0 if more may; null if none do. */
  readonly repeats: number | null;
}

export function runsOfAll(contrasts: readonly Contrast[]): string {
  const counts = contrasts.flatMap(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least !== most) return t`${least} to ${most} runs each`;
  return most === 1 ? t`1 run each` : t`${most} runs each`;
}

export function listed(names: readonly string[], separator = "; "): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, more > 1 ? MOST_NAMED : MOST_NAMED + 1).join(separator);
  return more > 1 ? t`${shown} and ${more} more` : shown;
}
