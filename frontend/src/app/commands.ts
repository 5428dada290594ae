import { t } from "@lingui/core/macro";

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Shown next to the label; typing it also finds the command. */
  readonly group: "Page" | "Action" | "Campaign" | "Trend" | "Target" | "Run";
  readonly run: () => void;
}

/** Return the commands that contain every typed word, those that begin with the text first. */
export function matchCommands(commands: readonly Command[], typed: string): Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const beginsWithText = (command: Command) => Number(command.label.toLowerCase().startsWith(text));
  return commands
    .filter(({ label, group }) => words.every((word) => `${group} ${label}`.toLowerCase().includes(word)))
    .sort((a, b) => beginsWithText(b) - beginsWithText(a));
}

/** Offer a typed number as a run. The run's page reports if it does not exist. */
export function runByNumber(typed: string, open: (runId: number) => void): Command[] {
  const runId = Number(/^\s*(?:run\s*)?#?(\d{1,15})\s*$/i.exec(typed)?.[1]);
  if (!Number.isSafeInteger(runId) || runId < 1) return [];
  return [{ id: t`run ${runId}`, label: t`Run ${runId}`, group: "Run", run: () => open(runId) }];
}
