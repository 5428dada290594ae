/** The priority of a campaign of which runs wait; an operator changes it. */

import { t } from "@lingui/core/macro";
import { NativeSelect, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Campaign } from "@/api/types";
import { useMay } from "@/components/session";
import { isOpen } from "./CampaignProgress";
import { changePriority } from "./queries";

const PRIORITIES = Array.from({ length: 10 }, (_, priority) => String(priority));

export function PriorityControl({ campaign }: { campaign: Campaign }) {
  const change = useMutation(changePriority);
  const mayChange = useMay("operator", campaign.cluster_id);
  const { priority = 0 } = campaign.plan;
  if (!isOpen(campaign)) return null;
  if (!mayChange)
    return (
      <Text c="dimmed" size="sm">
        {t`Priority ${priority}`}
      </Text>
    );
  return (
    <NativeSelect
      aria-label={t`Priority`}
      data={PRIORITIES.map((value) => ({ value, label: t`Priority ${value}` }))}
      disabled={change.isPending}
      onChange={({ currentTarget: { value } }) =>
        change.mutate({ campaignId: campaign.id, priority: Number(value) })
      }
      size="xs"
      title={t`A step counts as an hour of waiting`}
      value={String(priority)}
    />
  );
}
