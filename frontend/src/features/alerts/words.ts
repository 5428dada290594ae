/** What can be done about an alert, in the words of its buttons, and what each means. */

import type { AlertActionInput } from "@/api/types";

export type Move = AlertActionInput["action"];

interface MoveWords {
  readonly label: string;
  readonly meaning: string;
}

export const MOVES: Readonly<Record<Move, MoveWords>> = {
  acknowledge: {
    label: "Acknowledge",
    meaning: "Somebody has it in hand: the owner, by default you, until the day it is due.",
  },
  investigate: { label: "Investigate", meaning: "The cause is being looked for." },
  expect: { label: "Expected", meaning: "The chosen event explains it." },
  accept_baseline: {
    label: "Accept as new baseline",
    meaning: "The level after it is the normal one from now on.",
  },
  noise: { label: "Noise", meaning: "Nothing changed: the runs only scattered." },
  wont_fix: { label: "Will not be fixed", meaning: "It is real, and stays as it is." },
  fixed: {
    label: "Fixed",
    meaning: "The cause is gone. It is verified once the series is back at its level.",
  },
  reopen: { label: "Reopen", meaning: "The judgement was wrong; it is to be dealt with again." },
  comment: { label: "Comment only", meaning: "The state stays." },
};

/** What is noted in the history: a move of a person, or what came by itself. */
export function deedWords(action: string): string {
  const known: Readonly<Record<string, MoveWords>> = MOVES;
  const words = known[action]?.label ?? action.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
