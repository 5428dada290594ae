import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Box, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import type { CampaignHeadline, ListedCampaign } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { HeadlineValue } from "@/components/HeadlineValue";
import { CampaignLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { MedianRatio } from "@/components/MedianRatio";
import { RowOriginBadge, SampleNote } from "@/components/Origin";
import { ScrollTable } from "@/components/ScrollTable";
import { Quantity, When } from "@/components/values";
import { CampaignBar, describeCounts, isOpen } from "./CampaignProgress";
import { preparationWords } from "./preparations";

/** Aligned with the name of the schedule above. */
const INNER = { paddingInlineStart: 44 };

export type Headlines = ReadonlyMap<number, CampaignHeadline>;

/** Columns that some lists leave out. */
export interface Columns {
  readonly hasOwners: boolean;
}

interface CampaignTableProps {
  readonly campaigns: readonly ListedCampaign[];
  readonly label: string;
  readonly columns: Columns;
  readonly children: ReactNode;
}

/** The campaigns are those of the rows, which are the children. */
export function CampaignTable({ campaigns, label, columns, children }: CampaignTableProps) {
  return (
    <Stack gap="xs">
      <SampleNote clusterIds={campaigns.map(({ cluster_id }) => cluster_id)} />
      <ScrollTable
        head={[
          t`Campaign`,
          t`State`,
          t`Main result`,
          t`Previous`,
          t`Cluster`,
          ...(columns.hasOwners ? [t`Owner`] : []),
          t`Submitted`,
        ]}
        label={label}
      >
        {children}
      </ScrollTable>
    </Stack>
  );
}

interface CampaignCellsProps {
  readonly campaign: ListedCampaign;
  readonly headline: CampaignHeadline | undefined;
  readonly columns: Columns;
}

/** Moves the badge below the name where there is no room next to it. */
const WRAPS = { whiteSpace: "normal" } as const;

interface CampaignRowProps extends CampaignCellsProps {
  /** Below its schedule. */
  readonly isInner?: boolean;
}

export function CampaignRow({ isInner = false, ...cells }: CampaignRowProps) {
  const { campaign } = cells;
  return (
    <tr>
      <td className="iotide-name" style={isInner ? INNER : undefined}>
        <CampaignLink fw={isInner ? 400 : 600} id={campaign.id} name={campaign.name} />
        {isInner && <Detail component="span"> {campaign.id}</Detail>}
      </td>
      <td>
        <StateBadge state={campaign.state} />
        <Progress campaign={campaign} />
      </td>
      <CampaignCells {...cells} />
    </tr>
  );
}

/** Cells that follow the state. */
export function CampaignCells({ campaign, headline, columns }: CampaignCellsProps) {
  return (
    <>
      <td className="iotide-wrap">{headline && <MainResult headline={headline} />}</td>
      <td>{headline?.previous && <Previous previous={headline.previous} />}</td>
      <td style={WRAPS}>
        {campaign.cluster_name} <RowOriginBadge clusterId={campaign.cluster_id} />
      </td>
      {columns.hasOwners && <td>{campaign.owner}</td>}
      <td>
        <When at={campaign.created_at} />
      </td>
    </>
  );
}

function Progress({ campaign }: { campaign: ListedCampaign }) {
  const { counts } = campaign;
  const ended = counts.finished + counts.failed + counts.cancelled;
  const total = ended + counts.waiting + counts.active;
  const preparations = preparationWords(campaign);
  if (!isOpen(campaign)) {
    const runs = total === 1 ? t`1 run` : t`${total} runs`;
    return (
      <>
        <Detail>{counts.finished === total ? runs : describeCounts(counts)}</Detail>
        {preparations && <Detail>{preparations}</Detail>}
      </>
    );
  }
  const stage = campaign.stages.find(({ state }) => state === "paused");
  return (
    <Box miw={140}>
      <CampaignBar campaign={campaign} size="sm" />
      <Detail>
        <Trans>
          {ended} of {total} runs ended
          {counts.failed > 0 && t`, ${counts.failed} failed`}
        </Trans>
      </Detail>
      {preparations && <Detail>{preparations}</Detail>}
      {campaign.state === "paused" && (
        <Detail lineClamp={2} maw={240}>
          {stage?.pause}
        </Detail>
      )}
    </Box>
  );
}

/** First primary metric of the first configuration: value, name, range and number of runs. */
function MainResult({ headline }: { headline: CampaignHeadline }) {
  const { median, low, high, n, unit, target_names } = headline;
  return (
    <>
      <HeadlineValue headline={{ ...headline, value: median }} />
      <Detail data-export={JSON.stringify({ low, high, n, target: target_names.join(" ") })}>
        {n === 1 ? (
          t`1 run`
        ) : (
          <Trans>
            {n} runs, <Quantity unit={unit} value={low} /> to <Quantity unit={unit} value={high} />
          </Trans>
        )}
        {target_names.length > 0 && `, ${target_names.join(", ")}`}
      </Detail>
    </>
  );
}

/** Ratio to the previous campaign of the schedule. */
function Previous({ previous }: { previous: NonNullable<CampaignHeadline["previous"]> }) {
  const { campaign_id: id, n, ratio } = previous;
  return (
    <>
      {ratio === null ? "" : <MedianRatio ratio={ratio} />}
      <Detail>
        <Trans>
          to <CampaignLink id={id} name={t`campaign ${id}`} />, {n === 1 ? t`1 run` : t`${n} runs`}
        </Trans>
      </Detail>
    </>
  );
}
