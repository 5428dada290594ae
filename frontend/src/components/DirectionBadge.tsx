/** The direction of a change: worse, better or recovered; higher or lower where a metric has no better side. */

import { t } from "@lingui/core/macro";
import { Badge } from "@mantine/core";

interface DirectionBadgeProps {
  readonly change: {
    readonly direction: "better" | "worse" | "recovered" | null;
    /** Null where it was 0 before. */
    readonly shift_ratio: number | null;
    /** The change for the worse was taken back then. */
    readonly ended_at?: string | null;
  };
}

const COLOURS = { better: "green", worse: "red", recovered: "gray" } as const;

export function DirectionBadge({ change }: DirectionBadgeProps) {
  const { shift_ratio: shift } = change;
  const direction = change.ended_at ? "recovered" : change.direction;
  return (
    <Badge color={direction ? COLOURS[direction] : "gray"} miw="max-content" tt="none" variant="light">
      {direction ? directionWord(direction) : shift === null || shift > 0 ? t`higher` : t`lower`}
    </Badge>
  );
}

function directionWord(direction: keyof typeof COLOURS): string {
  switch (direction) {
    case "better":
      return t`better`;
    case "worse":
      return t`worse`;
    case "recovered":
      return t`recovered`;
  }
}
