/** What the command palette offers, and which of it a few typed letters mean. */

import { t } from "@lingui/core/macro";

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Kind of command, shown beside it and found by typing it. */
  readonly group: "Page" | "Do" | "Campaign" | "Trend" | "Target" | "Run";
  readonly run: () => void;
}

/** Commands that hold every typed word; those that begin with what was typed come first. */
export function matchCommands(commands: readonly Command[], typed: string): Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const beginsWithText = (command: Command) => Number(command.label.toLowerCase().startsWith(text));
  return commands
    .filter(({ label, group }) => words.every((word) => `${group} ${label}`.toLowerCase().includes(word)))
    .sort((a, b) => beginsWithText(b) - beginsWithText(a));
}

/** A typed number may be that of a run; the run's own page says whether there is one. */
export function runByNumber(typed: string, open: (runId: number) => void): Command[] {
  const runId = Number(/^\s*(?:run\s*)?#?(\d{1,15})\s*$/i.exec(typed)?.[1]);
  if (!Number.isSafeInteger(runId) || runId < 1) return [];
  return [{ id: t`run ${runId}`, label: t`Run ${runId}`, group: "Run", run: () => open(runId) }];
}
