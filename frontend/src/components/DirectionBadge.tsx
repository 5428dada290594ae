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
const WORDS = { better: t`better`, worse: t`worse`, recovered: t`recovered` } as const;

export function DirectionBadge({ change }: DirectionBadgeProps) {
  const { shift_ratio: shift } = change;
  const direction = change.ended_at ? "recovered" : change.direction;
  return (
    <Badge color={direction ? COLOURS[direction] : "gray"} miw="max-content">
      {direction ? WORDS[direction] : shift === null || shift > 0 ? t`higher` : t`lower`}
    </Badge>
  );
}
