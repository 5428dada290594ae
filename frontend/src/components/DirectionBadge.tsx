/** Whether a change is to the better or to the worse; where nobody says of a metric which way is better, only which way. */

import { t } from "@lingui/core/macro";
import { Badge } from "@mantine/core";

interface DirectionBadgeProps {
  readonly change: {
    readonly direction: "better" | "worse" | null;
    /** Null where it was 0 before. */
    readonly shift_ratio: number | null;
  };
}

const COLOURS = { better: "green", worse: "red" } as const;

export function DirectionBadge({ change: { direction, shift_ratio: shift } }: DirectionBadgeProps) {
  return (
    <Badge color={direction ? COLOURS[direction] : "gray"} miw="max-content" tt="none" variant="light">
      {direction ?? (shift === null || shift > 0 ? t`higher` : t`lower`)}
    </Badge>
  );
}
