/** Progress of a campaign that has not ended. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Campaign, Stage } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { Detail, Hint } from "@/components/looks";
import { Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { CampaignProgress } from "./CampaignProgress";
import { changePriority } from "./queries";

interface ProgressSectionProps {
  readonly campaign: Campaign;
  readonly activeRuns: ReactNode;
  readonly waitingRuns: ReactNode;
}

export function ProgressSection({ campaign, activeRuns, waitingRuns }: ProgressSectionProps) {
  return (
    <Section
      actions={
        <>
          <PriorityControl campaign={campaign} />
          <StateBadge state={campaign.state} />
        </>
      }
      title={t`Progress`}
    >
      <Stack gap="sm">
        <CampaignProgress campaign={campaign} />
        <StageBand stages={campaign.stages} />
        {activeRuns}
        {campaign.counts.waiting > 0 && campaign.state !== "paused" && waitingRuns}
      </Stack>
    </Section>
  );
}

function StageBand({ stages }: { stages: readonly Stage[] }) {
  // Those on scratch disks have a table of their own.
  if (stages.length === 0 || stages.some(({ does }) => does === "make")) return null;
  return (
    <Group aria-label={t`Stages`} component="ol" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
      {stages.map((stage) => (
        <Group component="li" gap={6} key={stage.ordinal} wrap="nowrap">
          <Text fw={600} size="sm">
            {stage.ordinal}. {stage.variant}
          </Text>
          <StateBadge state={stateOf(stage)} />
          <Detail>{t`${stage.ended} of ${stage.runs}`}</Detail>
        </Group>
      ))}
    </Group>
  );
}

/** Return the state of a stage by its runs. A stage cancelled before its start has ended. */
function stateOf({ state, runs, ended }: Stage): string {
  if (ended === runs) return "ended";
  if (state === "paused") return "paused";
  return state === "held" ? "later" : "active";
}

const PRIORITIES = Array.from({ length: 10 }, (_, priority) => String(priority));

function PriorityControl({ campaign }: { campaign: Campaign }) {
  const change = useMutation(changePriority);
  const mayChange = useMay("operator", campaign.cluster_id);
  const { priority = 0 } = campaign.plan;
  if (!mayChange) return <Hint>{t`Priority ${priority}`}</Hint>;
  return (
    <NativeSelect
      aria-label={t`Priority`}
      data={PRIORITIES.map((value) => ({ value, label: t`Priority ${value}` }))}
      disabled={change.isPending}
      onChange={({ currentTarget: { value } }) =>
        change.mutate({ campaignId: campaign.id, priority: Number(value) })
      }
      size="xs"
      title={t`Each step is worth one hour of queue time`}
      value={String(priority)}
    />
  );
}
