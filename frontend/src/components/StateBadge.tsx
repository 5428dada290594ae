/** A state in its colour and, always, its word. */

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

export function StateBadge({ state }: { state: string }) {
  return (
    <Badge color={COLOURS[state] ?? "gray"} miw="max-content">
      {state.replaceAll("_", " ")}
    </Badge>
  );
}
