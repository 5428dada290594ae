/** How far a campaign is: one bar made of its runs' states. */

import { Group, Progress, Text } from "@mantine/core";
import type { Campaign } from "@/api/types";
import { formatDuration } from "@/lib/units";

const PARTS = [
  { state: "finished", color: "green" },
  { state: "failed", color: "red" },
  { state: "cancelled", color: "orange" },
  { state: "active", color: "tide" },
] as const;

export function CampaignBar({ campaign, size = "lg" }: { campaign: Campaign; size?: string }) {
  const { counts } = campaign;
  const total = Math.max(1, totalRuns(campaign));
  return (
    <Progress.Root aria-label={`Progress of campaign ${campaign.name}`} size={size}>
      {PARTS.map(({ state, color }) => (
        <Progress.Section
          animated={state === "active"}
          aria-label={`${counts[state]} ${state}`}
          color={color}
          key={state}
          value={(counts[state] / total) * 100}
        />
      ))}
    </Progress.Root>
  );
}

/** The bar with its numbers and, while it runs, what is left. */
export function CampaignProgress({ campaign }: { campaign: Campaign }) {
  const { counts, progress, seconds_remaining_estimated: secondsLeft } = campaign;
  const isRunning = isOpen(campaign) && campaign.state !== "paused";
  return (
    <div>
      <CampaignBar campaign={campaign} />
      <Group justify="space-between" mt={4}>
        <Text size="sm">
          {totalRuns(campaign)} runs: {describeCounts(counts)}
        </Text>
        <Text c="dimmed" size="sm">
          {Math.floor(progress * 100)} %
          {isRunning && secondsLeft !== null && `, about ${formatDuration(secondsLeft)} left`}
        </Text>
      </Group>
    </div>
  );
}

/** Whether some of its runs have not ended. */
export function isOpen({ state }: Campaign): boolean {
  return state === "active" || state === "waiting" || state === "paused";
}

/** `3 finished, 1 failed` */
export function describeCounts(counts: Campaign["counts"]): string {
  return [...PARTS.map(({ state }) => state), "waiting" as const]
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(", ");
}

function totalRuns({ counts }: Campaign): number {
  return counts.waiting + counts.active + counts.finished + counts.failed + counts.cancelled;
}
