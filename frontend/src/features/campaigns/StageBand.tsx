/** The stages of a campaign in their order, each with its variant and how far it is. */

import { t } from "@lingui/core/macro";
import { Group, Text } from "@mantine/core";
import type { Stage } from "@/api/types";
import { StateBadge } from "@/components/StateBadge";

export function StageBand({ stages }: { stages: readonly Stage[] }) {
  if (stages.length === 0) return null;
  return (
    <Group aria-label={t`Stages`} component="ol" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
      {stages.map((stage) => (
        <Group component="li" gap={6} key={stage.ordinal} wrap="nowrap">
          <Text fw={600} size="sm">
            {stage.ordinal}. {stage.variant}
          </Text>
          <StateBadge state={stateOf(stage)} />
          <Text c="dimmed" size="xs">
            {t`${stage.ended} of ${stage.runs}`}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

/** A stage that has begun is active or ended by what its runs are; one that was cancelled before it began has ended. */
function stateOf({ state, runs, ended }: Stage): string {
  if (ended === runs) return "ended";
  if (state === "paused") return "paused";
  return state === "held" ? "later" : "active";
}
