/** What becomes of a run that meets a node which others use. */

import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { CampaignPlan } from "@/api/types";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

export const DraftQuiet = z.object({
  policy: z.enum(["ignore", "flag", "wait", "refuse"]),
  /** How long a run holds its node back at most; of no account but for `wait`. */
  wait: z.string(),
});
export type DraftQuiet = z.infer<typeof DraftQuiet>;

const LONGEST_WAIT = 3600;

export const FLAGGED: DraftQuiet = { policy: "flag", wait: "1 min" };

/** Each policy by its name and by what it does. */
export const POLICIES: readonly {
  readonly value: DraftQuiet["policy"];
  readonly label: string;
  readonly does: string;
}[] = [
  {
    value: "flag",
    label: t`Start, and flag the run`,
    does: t`A run waits up to 5 s for a sample of its node, starts, and is marked where it met other load or nobody could tell.`,
  },
  {
    value: "wait",
    label: t`Wait until the node is quiet`,
    does: t`A run that meets other load holds its node until that is quiet; after that time it gives it to others and is tried again.`,
  },
  {
    value: "refuse",
    label: t`Refuse to start`,
    does: t`A run that meets other load fails at once and says what it met.`,
  },
  {
    value: "ignore",
    label: t`Start, without a flag`,
    does: t`Nobody is told of other load; how much it was is stored with the run.`,
  },
];

/** The draft of a plan's policy. */
export function quietOf({ quiet, quiet_wait_seconds }: CampaignPlan): DraftQuiet {
  return { policy: quiet, wait: exactSeconds(quiet_wait_seconds) };
}

/** The policy as a plan has it. */
export function planQuiet({ policy, wait }: DraftQuiet): Pick<CampaignPlan, "quiet" | "quiet_wait_seconds"> {
  return { quiet: policy, quiet_wait_seconds: parseSeconds(policy === "wait" ? wait : FLAGGED.wait) };
}

/** Why the time cannot be sent, or null. */
export function quietProblem({ policy, wait }: DraftQuiet): string | null {
  const isGood = (seconds: number) => seconds > 0 && seconds <= LONGEST_WAIT;
  return policy === "wait" ? durationProblem(wait, isGood, t`Give more than 0 s and at most 1 h.`) : null;
}
