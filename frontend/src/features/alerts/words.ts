/** What can be done about an alert, in the words of its buttons, and what each means. */

import { t } from "@lingui/core/macro";
import type { AlertActionInput } from "@/api/types";

export type Move = AlertActionInput["action"];

interface MoveWords {
  readonly label: string;
  readonly meaning: string;
}

export const MOVES: Readonly<Record<Move, MoveWords>> = {
  acknowledge: {
    label: t`Acknowledge`,
    meaning: t`Somebody has it in hand: the owner, by default you, until the day it is due.`,
  },
  investigate: { label: t`Investigate`, meaning: t`The cause is being looked for.` },
  expect: { label: t`Expected`, meaning: t`The chosen event explains it.` },
  accept_baseline: {
    label: t`Accept as new baseline`,
    meaning: t`The level after it is the normal one from now on.`,
  },
  noise: { label: t`Noise`, meaning: t`Nothing changed: the runs only scattered.` },
  wont_fix: { label: t`Will not be fixed`, meaning: t`It is real, and stays as it is.` },
  fixed: {
    label: t`Fixed`,
    meaning: t`The cause is gone. It is verified once the series is back at its level.`,
  },
  reopen: { label: t`Reopen`, meaning: t`The judgement was wrong; it is to be dealt with again.` },
  comment: { label: t`Comment only`, meaning: t`The state stays.` },
};

/** What is noted in the history: a move of a person, or what came by itself. */
export function deedWords(action: string): string {
  const known: Readonly<Record<string, MoveWords>> = MOVES;
  const words = known[action]?.label ?? action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
