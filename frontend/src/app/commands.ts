/** What the command palette offers, and which of it a few typed letters mean. */

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Kind of command, shown beside it and found by typing it. */
  readonly group: "Page" | "Do" | "Campaign" | "Trend";
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
