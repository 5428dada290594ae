/** Stages of a campaign on scratch disks as steps: make, fill and mount a file system, measure on it, clean at the end. */

import { t } from "@lingui/core/macro";
import type { MantineColor } from "@mantine/core";
import type { Stage } from "@/api/types";

export interface ScratchStep {
  /** The stage that makes or fills the file system, mounts it on clients, or cleans the set. */
  readonly stage: Stage;
  /** Runs on what was made or filled; undefined for the cleaning. */
  readonly measured: Stage | undefined;
  /** How often the variant has been made by then, from 1; 0 of the cleaning, which has no variant. */
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
  filling: { word: t`filling`, color: "tide" },
  filled: { word: t`filled`, color: "tide" },
  not_filled: { word: t`not filled`, color: "red" },
  open: { word: t`open`, color: "tide" },
  ended: { word: t`ended`, color: "green" },
  ended_partly: { word: t`ended, some not measured`, color: "orange" },
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
    const round = (rounds.get(stage.variant) ?? 0) + (stage.does === "make" ? 1 : 0);
    rounds.set(stage.variant, round);
    const measured =
      stage.does === "clean" ? undefined : stages.slice(index).find(({ does }) => does === "measure");
    return { stage, measured, round, state: stateOf(stage, measured) };
  });
}

const STATES = {
  make: { active: "making", failed: "not_made" },
  fill: { active: "filling", finished: "filled", failed: "not_filled" },
  mount: { active: "mounting", finished: "mounted", failed: "not_mounted" },
  clean: { active: "cleaning", finished: "cleaned", failed: "not_cleaned" },
} as const;

function stateOf({ does, state, run_state }: Stage, measured: Stage | undefined): StepState {
  const states: Partial<Record<string, StepState>> = does === "measure" ? {} : STATES[does];
  if (run_state === "cancelled") return "cancelled";
  if (run_state === "finished") return states.finished ?? measuredState(measured);
  return states[run_state ?? ""] ?? (state === "open" ? "queued" : "later");
}

function measuredState(measured: Stage | undefined): StepState {
  if (!measured) return "made";
  const { state, runs, ended, failed, cancelled } = measured;
  if (ended === runs) {
    if (failed + cancelled === 0) return "ended";
    return failed + cancelled === runs ? "not_measured" : "ended_partly";
  }
  return state === "open" ? "open" : "made";
}
