/** Runs that prepare scratch disks, which the counts of a campaign leave out. */

import { t } from "@lingui/core/macro";
import type { ListedCampaign } from "@/api/types";

type Preparation = ListedCampaign["preparations"][number];
type Prepared = Pick<ListedCampaign, "preparations">;

/** Return `4 makes (1 active), 4 fills, 1 cleaning`. */
export function preparationWords({ preparations }: Prepared): string {
  return preparations.map(wordsOf).join(", ");
}

export function activePreparations({ preparations }: Prepared): number {
  return preparations.reduce((sum, { active }) => sum + active, 0);
}

const STATES = ["active", "failed", "cancelled"] as const;

function wordsOf(one: Preparation): string {
  const total = one.waiting + one.active + one.finished + one.failed + one.cancelled;
  const states = STATES.filter((state) => one[state] > 0).map((state) => stateWords(state, one[state]));
  const named = nameOf(one.does, total);
  return states.length === 0 ? named : `${named} (${states.join(", ")})`;
}

function stateWords(state: (typeof STATES)[number], count: number): string {
  if (state === "active") return t`${count} active`;
  return state === "failed" ? t`${count} failed` : t`${count} cancelled`;
}

function nameOf(does: Preparation["does"], count: number): string {
  switch (does) {
    case "make":
      return count === 1 ? t`1 make` : t`${count} makes`;
    case "fill":
      return count === 1 ? t`1 fill` : t`${count} fills`;
    case "mount":
      return count === 1 ? t`1 mount` : t`${count} mounts`;
    default:
      return count === 1 ? t`1 cleaning` : t`${count} cleanings`;
  }
}
