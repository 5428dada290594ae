import { t } from "@lingui/core/macro";
import { Badge, type MantineColor } from "@mantine/core";

export const STATE_COLOURS: Readonly<Record<string, MantineColor>> = {
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

/** A state in its colour and always as a word. */
export function StateBadge({ state }: { state: string }) {
  return (
    <Badge color={STATE_COLOURS[state] ?? "gray"} miw="max-content">
      {state.replaceAll("_", " ")}
    </Badge>
  );
}

interface DirectionBadgeProps {
  readonly change: {
    readonly direction: "better" | "worse" | "recovered" | null;
    /** Null if the level before was 0. */
    readonly shift_ratio: number | null;
    /** When the series recovered, or when the shift was over. */
    readonly ended_at?: string | null;
    readonly is_over?: boolean;
  };
}

const DIRECTION_COLOURS = { better: "green", worse: "red", recovered: "gray", over: "gray" } as const;
const DIRECTIONS = { better: t`better`, worse: t`worse`, recovered: t`recovered`, over: t`over` } as const;

/** Worse, better, recovered or over; higher or lower for metrics without a better direction. */
export function DirectionBadge({ change }: DirectionBadgeProps) {
  const { shift_ratio: shift } = change;
  const direction = change.is_over ? "over" : change.ended_at ? "recovered" : change.direction;
  return (
    <Badge color={direction ? DIRECTION_COLOURS[direction] : "gray"} miw="max-content">
      {direction ? DIRECTIONS[direction] : shift === null || shift > 0 ? t`higher` : t`lower`}
    </Badge>
  );
}

/** Marks a change that only one of the two analyses found. */
export function UnconfirmedBadge() {
  return <Badge color="orange" ml="xs">{t`unconfirmed`}</Badge>;
}
