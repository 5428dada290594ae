import { t } from "@lingui/core/macro";
import type { AlertActionInput, IncidentActionInput } from "@/api/types";

export type Move = AlertActionInput["action"];

interface MoveWords {
  readonly label: string;
  readonly meaning: string;
}

export const MOVES: Readonly<Record<Move, MoveWords>> = {
  acknowledge: {
    label: t`Acknowledge`,
    meaning: t`Assigns the alert to the owner (you by default) until the due date.`,
  },
  investigate: { label: t`Investigate`, meaning: t`The cause is being investigated.` },
  expect: { label: t`Expected`, meaning: t`The selected event explains the change.` },
  accept_baseline: {
    label: t`Accept as new baseline`,
    meaning: t`The level after the change is the normal level from now on.`,
  },
  noise: { label: t`Noise`, meaning: t`There is no real change, only variance between runs.` },
  wont_fix: { label: t`Will not be fixed`, meaning: t`The change is real and is accepted.` },
  fixed: {
    label: t`Fixed`,
    meaning: t`The cause is fixed. The alert is verified when the series is back at its previous level.`,
  },
  reopen: { label: t`Reopen`, meaning: t`The decision was wrong. The alert is open again.` },
  comment: { label: t`Comment only`, meaning: t`The state does not change.` },
};

/** Label of a history entry: a user's action or an automatic one. */
export function actionWords(action: string): string {
  const known: Readonly<Record<string, MoveWords>> = MOVES;
  const words = known[action]?.label ?? action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export type IncidentMove = IncidentActionInput["action"];

interface IncidentMoveWords extends MoveWords {
  /** Ends the sentence "Incident 8: ...". */
  readonly done: string;
}

export const INCIDENT_MOVES: Readonly<Record<IncidentMove, IncidentMoveWords>> = {
  acknowledge: { label: t`Acknowledge`, meaning: t`You are working on it.`, done: t`acknowledged` },
  expect: {
    label: t`Expected`,
    meaning: t`The change was intended. It needs no further attention.`,
    done: t`marked as expected`,
  },
  set_cause: {
    label: t`Set cause`,
    meaning: t`Choose the event that caused the change.`,
    done: t`cause set`,
  },
  ignore: {
    label: t`Ignore`,
    meaning: t`The change is accepted. It needs no further attention.`,
    done: t`ignored`,
  },
  comment: {
    label: t`Comment, owner`,
    meaning: t`Adds a comment, or assigns the incident to another user.`,
    done: t`comment added`,
  },
  reopen: {
    label: t`Reopen`,
    meaning: t`The decision was wrong. The incident is open again.`,
    done: t`opened again`,
  },
  undo: { label: t`Undo`, meaning: t`Restores what the last action changed.`, done: t`last action undone` },
};

/** Label of a history entry of an incident. */
export function stepWords(action: string): string {
  if (action === "comment") return t`Comment`;
  const known: Readonly<Record<string, MoveWords>> = INCIDENT_MOVES;
  return known[action]?.label ?? actionWords(action);
}
