import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Box, Stack } from "@mantine/core";
import type { ListedCampaign } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { CampaignLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { RowOriginBadge, SampleNote } from "@/components/Origin";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { CampaignBar } from "./CampaignProgress";

export function CampaignTable({ campaigns, label }: { campaigns: readonly ListedCampaign[]; label: string }) {
  return (
    <Stack gap="xs">
      <SampleNote clusterIds={campaigns.map(({ cluster_id }) => cluster_id)} />
      <ScrollTable
        head={[t`Campaign`, t`State`, t`Progress`, t`Cluster`, t`Owner`, t`Submitted`]}
        label={label}
      >
        {campaigns.map((campaign) => (
          <CampaignRow campaign={campaign} key={campaign.id} />
        ))}
      </ScrollTable>
    </Stack>
  );
}

function CampaignRow({ campaign }: { campaign: ListedCampaign }) {
  const { counts } = campaign;
  const ended = counts.finished + counts.failed + counts.cancelled;
  return (
    <Row>
      <td className="iotide-name">
        <CampaignLink fw={600} id={campaign.id} name={campaign.name} />
      </td>
      <td>
        <StateBadge state={campaign.state} />
        <WaitsFor campaign={campaign} />
      </td>
      <Box miw={140}>
        <CampaignBar campaign={campaign} size="sm" />
        <Detail>
          <Trans>
            {ended} of {ended + counts.waiting + counts.active} runs ended
            {counts.failed > 0 && t`, ${counts.failed} failed`}
          </Trans>
        </Detail>
      </Box>
      <td>
        {campaign.cluster_name} <RowOriginBadge clusterId={campaign.cluster_id} />
      </td>
      {campaign.owner}
      <When at={campaign.created_at} />
    </Row>
  );
}

function WaitsFor({ campaign }: { campaign: ListedCampaign }) {
  if (campaign.state !== "paused") return null;
  const stage = campaign.stages.find(({ state }) => state === "paused");
  return (
    <Detail lineClamp={2} maw={240}>
      {stage?.pause}
    </Detail>
  );
}
