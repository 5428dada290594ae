/** Badges of states and of the direction of a change. */

import { t } from "@lingui/core/macro";
import { Badge, type MantineColor } from "@mantine/core";

const COLOURS: Readonly<Record<string, MantineColor>> = {
  active: "tide",
  online: "green",
  finished: "green",
  failed: "red",
  rejected: "red",
  silent: "orange",
  stuck: "red",
  overdue: "orange",
  paused: "orange",
  cancelled: "orange",
  revoked: "red",
  untriaged: "red",
  investigating: "orange",
  acknowledged: "orange",
  suspect: "orange",
  fixed: "green",
  verified: "green",
  recovered: "green",
};

/** A state in its colour and, always, its word. */
export function StateBadge({ state }: { state: string }) {
  return (
    <Badge color={COLOURS[state] ?? "gray"} miw="max-content">
      {state.replaceAll("_", " ")}
    </Badge>
  );
}

interface DirectionBadgeProps {
  readonly change: {
    readonly direction: "better" | "worse" | "recovered" | null;
    /** Null where it was 0 before. */
    readonly shift_ratio: number | null;
    /** The change for the worse was taken back then. */
    readonly ended_at?: string | null;
  };
}

const DIRECTION_COLOURS = { better: "green", worse: "red", recovered: "gray" } as const;
const DIRECTIONS = { better: t`better`, worse: t`worse`, recovered: t`recovered` } as const;

/** The direction of a change: worse, better or recovered; higher or lower where a metric has no better side. */
export function DirectionBadge({ change }: DirectionBadgeProps) {
  const { shift_ratio: shift } = change;
  const direction = change.ended_at ? "recovered" : change.direction;
  return (
    <Badge color={direction ? DIRECTION_COLOURS[direction] : "gray"} miw="max-content">
      {direction ? DIRECTIONS[direction] : shift === null || shift > 0 ? t`higher` : t`lower`}
    </Badge>
  );
}

/** A change that one analysis alone has found. */
export function UnconfirmedBadge() {
  return <Badge color="orange" ml="xs">{t`not confirmed yet`}</Badge>;
}
