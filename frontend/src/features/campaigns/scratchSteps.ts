/** Stages of a campaign on scratch disks as steps: make a file system, mount it on clients, measure, and clean. */

import { t } from "@lingui/core/macro";
import type { MantineColor } from "@mantine/core";
import type { Stage } from "@/api/types";

export interface ScratchStep {
  /** The stage that makes the file system, mounts it on clients, or cleans the set. */
  readonly stage: Stage;
  /** Runs on what was made; undefined for the cleaning. */
  readonly measured: Stage | undefined;
  /** From 1; how often the variant was made before, plus one. */
  readonly round: number;
  readonly state: StepState;
}

export type StepState = keyof typeof STEP_WORDS;

interface StepWords {
  readonly word: string;
  readonly color: MantineColor;
}

export const STEP_WORDS = {
  later: { word: t`later`, color: "gray" },
  queued: { word: t`queued`, color: "gray" },
  making: { word: t`making`, color: "tide" },
  made: { word: t`made`, color: "tide" },
  open: { word: t`open`, color: "tide" },
  ended: { word: t`ended`, color: "green" },
  not_made: { word: t`not made`, color: "red" },
  mounting: { word: t`mounting`, color: "tide" },
  mounted: { word: t`mounted`, color: "green" },
  not_mounted: { word: t`not mounted`, color: "red" },
  not_measured: { word: t`not measured`, color: "red" },
  cancelled: { word: t`cancelled`, color: "orange" },
  cleaning: { word: t`cleaning`, color: "tide" },
  cleaned: { word: t`cleaned`, color: "green" },
  not_cleaned: { word: t`not cleaned`, color: "red" },
} as const satisfies Record<string, StepWords>;

/** Return the steps in order; empty without scratch disks. */
export function stepsOf(stages: readonly Stage[]): ScratchStep[] {
  const rounds = new Map<string, number>();
  return stages.flatMap((stage, index) => {
    if (stage.does === "measure") return [];
    const round = (rounds.get(stage.variant) ?? 0) + (stage.does === "mount" ? 0 : 1);
    rounds.set(stage.variant, round);
    const measured =
      stage.does === "clean" ? undefined : stages[index + (stages[index + 1]?.does === "mount" ? 2 : 1)];
    return { stage, measured, round, state: stateOf(stage, stage.does, measured) };
  });
}

const ACTIVE = { make: "making", mount: "mounting", clean: "cleaning" } as const;
const FAILED = { make: "not_made", mount: "not_mounted", clean: "not_cleaned" } as const;

function stateOf(stage: Stage, does: keyof typeof ACTIVE, measured: Stage | undefined): StepState {
  switch (stage.run_state) {
    case "active":
      return ACTIVE[does];
    case "finished":
      if (does === "make") return measuredState(measured);
      return does === "mount" ? "mounted" : "cleaned";
    case "failed":
      return FAILED[does];
    case "cancelled":
      return "cancelled";
    default:
      return stage.state === "open" ? "queued" : "later";
  }
}

function measuredState(measured: Stage | undefined): StepState {
  if (!measured) return "made";
  const { state, runs, ended, cancelled } = measured;
  if (ended === runs) return cancelled === runs ? "not_measured" : "ended";
  return state === "open" ? "open" : "made";
}
