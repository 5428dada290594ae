import { t } from "@lingui/core/macro";

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Shown next to the label; typing it also finds the command. */
  readonly group:
    | "Page"
    | "Action"
    | "Cluster"
    | "Node"
    | "Target"
    | "Campaign"
    | "Schedule"
    | "Series"
    | "Trend"
    | "Run"
    | "Glossary"
    | "Docs";
  /** Where it is, for example the cluster of a node. */
  readonly place?: string;
  readonly run: () => void;
}

/** Return the commands that contain every typed word, those that begin with the text first. */
export function matchCommands(commands: readonly Command[], typed: string): Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const beginsWithText = (command: Command) => Number(command.label.toLowerCase().startsWith(text));
  return commands
    .filter(({ label, group, place = "" }) =>
      words.every((word) => `${group} ${label} ${place}`.toLowerCase().includes(word)),
    )
    .sort((a, b) => beginsWithText(b) - beginsWithText(a));
}

/** Put names equal to the typed text first, then the commands of this page, then the other names. */
export function rankCommands(own: readonly Command[], found: readonly Command[], typed: string): Command[] {
  const text = typed.trim().toLowerCase();
  const isNamed = ({ label }: Command) => label.toLowerCase() === text;
  return [...found.filter(isNamed), ...own, ...found.filter((command) => !isNamed(command))];
}

/** Offer a typed number as a run. The run's page reports if it does not exist. */
export function runByNumber(typed: string, open: (runId: number) => void): Command[] {
  const runId = Number(/^\s*(?:run\s*)?#?(\d{1,15})\s*$/i.exec(typed)?.[1]);
  if (!Number.isSafeInteger(runId) || runId < 1) return [];
  return [{ id: t`run ${runId}`, label: t`Run ${runId}`, group: "Run", run: () => open(runId) }];
}
