import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { CampaignPlan } from "@/api/types";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

export const DraftQuiet = z.object({
  policy: z.enum(["ignore", "flag", "wait", "refuse"]),
  /** Maximum time for which a run holds its node; used by `wait` only. */
  wait: z.string(),
});
export type DraftQuiet = z.infer<typeof DraftQuiet>;

const LONGEST_WAIT = 3600;

export const FLAGGED: DraftQuiet = { policy: "flag", wait: "1 min" };

export const POLICIES: readonly {
  readonly value: DraftQuiet["policy"];
  readonly label: string;
  readonly does: string;
}[] = [
  {
    value: "flag",
    label: t`Start and flag the run`,
    does: t`The run waits up to 5 s for a sample of its node, then starts. It is flagged if there was other load or the load could not be measured.`,
  },
  {
    value: "wait",
    label: t`Wait until the node is idle`,
    does: t`A run that finds other load holds its node until the node is idle. After the maximum wait it releases the node and is retried.`,
  },
  {
    value: "refuse",
    label: t`Refuse to start`,
    does: t`A run that finds other load fails at once and reports it.`,
  },
  {
    value: "ignore",
    label: t`Start without a flag`,
    does: t`Other load is not flagged. Its amount is stored with the run.`,
  },
];

export function quietOf({ quiet, quiet_wait_seconds }: CampaignPlan): DraftQuiet {
  return { policy: quiet, wait: exactSeconds(quiet_wait_seconds) };
}

export function planQuiet({ policy, wait }: DraftQuiet): Pick<CampaignPlan, "quiet" | "quiet_wait_seconds"> {
  return { quiet: policy, quiet_wait_seconds: parseSeconds(policy === "wait" ? wait : FLAGGED.wait) };
}

/** Return why the time is invalid, or null. */
export function quietProblem({ policy, wait }: DraftQuiet): string | null {
  const isGood = (seconds: number) => seconds > 0 && seconds <= LONGEST_WAIT;
  return policy === "wait" ? durationProblem(wait, isGood, t`Enter more than 0 s and at most 1 h.`) : null;
}
