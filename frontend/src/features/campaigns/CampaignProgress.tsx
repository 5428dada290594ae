import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group, Progress, Text } from "@mantine/core";
import type { ListedCampaign } from "@/api/types";
import { STATE_COLOURS } from "@/components/badges";
import { Hint } from "@/components/looks";
import { When } from "@/components/values";
import { formatEstimate } from "@/lib/units";
import { preparationWords } from "./preparations";

const PARTS = [
  { state: "finished", color: "green" },
  { state: "failed", color: "red" },
  { state: "cancelled", color: "orange" },
  { state: "active", color: "tide" },
] as const;

export function CampaignBar({ campaign, size = "lg" }: { campaign: ListedCampaign; size?: string }) {
  const { counts } = campaign;
  const total = Math.max(1, totalRuns(campaign));
  return (
    <Progress.Root aria-label={t`Progress of campaign ${campaign.name}`} size={size}>
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

/** State and counts of an ended campaign in one badge, with what adaptive repeats reached. */
export function CampaignPill({ campaign }: { campaign: ListedCampaign }) {
  const { counts, state, adaptive } = campaign;
  if (isOpen(campaign)) return null;
  const total = totalRuns(campaign);
  const runs = counts.finished === total ? t`${total} runs` : describeCounts(counts);
  const hasFailed = campaign.preparations.some(({ failed }) => failed > 0);
  return (
    <>
      <Badge color={STATE_COLOURS[state] ?? "gray"} miw="max-content">{t`${state}: ${runs}`}</Badge>
      {hasFailed && <Hint>{preparationWords(campaign)}</Hint>}
      {adaptive && <Hint>{adaptive.words}</Hint>}
    </>
  );
}

export function CampaignProgress({ campaign }: { campaign: ListedCampaign }) {
  const { counts, progress, seconds_remaining_estimated: secondsLeft } = campaign;
  const isRunning = isOpen(campaign) && campaign.state !== "paused";
  return (
    <div>
      <CampaignBar campaign={campaign} />
      <RepeatsHint campaign={campaign} />
      <Group justify="space-between" mt={4}>
        <Text size="sm">{t`${totalRuns(campaign)} runs: ${describeCounts(counts)}`}</Text>
        <Hint>
          {Math.floor(progress * 100)} %
          {isRunning &&
            secondsLeft !== null &&
            t`, about ${formatEstimate(secondsLeft)} left ${describePace(campaign)}`}
        </Hint>
      </Group>
      {campaign.preparations.length > 0 && (
        <Text size="sm">{t`Scratch disks: ${preparationWords(campaign)}`}</Text>
      )}
    </div>
  );
}

/** Progress of adaptive repeats, or the time of the next spread ones. */
function RepeatsHint({ campaign: { adaptive, next_release_at } }: { campaign: ListedCampaign }) {
  return (
    <>
      {adaptive && <Text size="sm">{adaptive.words}</Text>}
      {next_release_at && (
        <Text size="sm">
          <Trans>
            Next repeats <When at={next_release_at} />
          </Trans>
        </Text>
      )}
    </>
  );
}

function describePace({ counts: { finished, failed, cancelled } }: ListedCampaign): string {
  const ended = finished + failed + cancelled;
  return t`based on the ${ended === 1 ? "run" : `${ended} runs`} so far, including pauses`;
}

export function isOpen({ state }: ListedCampaign): boolean {
  return state === "active" || state === "waiting" || state === "paused";
}

/** Return `3 finished, 1 failed`. */
export function describeCounts(counts: ListedCampaign["counts"]): string {
  return [...PARTS.map(({ state }) => state), "waiting" as const]
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(", ");
}

function totalRuns({ counts }: ListedCampaign): number {
  return counts.waiting + counts.active + counts.finished + counts.failed + counts.cancelled;
}
