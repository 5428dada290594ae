/** Rows of a schedule's campaigns: one for all of them, and on request one for each. */

import { t } from "@lingui/core/macro";
import { ActionIcon, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { CampaignGroup, CampaignHeadline } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { Icon } from "@/components/Icon";
import { CampaignLink } from "@/components/links";
import { Detail, Problem } from "@/components/looks";
import { Loaded, ShowMore } from "@/components/Page";
import { CampaignCells, CampaignRow, type Columns } from "./CampaignTable";
import { type CampaignFilter, campaignsQuery } from "./queries";
import { useHeadlines } from "./useHeadlines";

type OfSchedule = NonNullable<CampaignGroup["schedule"]>;

interface ScheduleRowsProps {
  readonly newest: CampaignGroup["newest"];
  readonly schedule: OfSchedule;
  readonly headline: CampaignHeadline | undefined;
  readonly columns: Columns;
  readonly filter: CampaignFilter;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

export function ScheduleRows({ schedule, filter, isOpen, onToggle, ...row }: ScheduleRowsProps) {
  const { newest, columns, headline } = row;
  const { name, campaign_count: count } = schedule;
  return (
    <>
      <tr>
        <td className="iotide-name">
          <Group gap="xs" wrap="nowrap">
            <ActionIcon
              aria-expanded={isOpen}
              aria-label={isOpen ? t`Hide the campaigns of ${name}` : t`Show the campaigns of ${name}`}
              color="gray"
              onClick={onToggle}
              size="sm"
              variant="subtle"
            >
              <Icon name={isOpen ? "open" : "closed"} size={14} />
            </ActionIcon>
            <div>
              <CampaignLink fw={600} id={newest.id} name={name} />
              <Detail>{t`schedule, ${count} campaigns`}</Detail>
            </div>
          </Group>
        </td>
        <td>
          <StateBadge state={newest.state} />
          <RecentStates schedule={schedule} />
        </td>
        <CampaignCells campaign={newest} columns={columns} headline={headline} />
      </tr>
      {isOpen && <InnerRows columns={columns} filter={{ ...filter, scheduleId: schedule.id }} />}
    </>
  );
}

/** States of the newest campaigns. */
function RecentStates({ schedule: { recent_states, campaign_count } }: { schedule: OfSchedule }) {
  const known = Object.entries(recent_states);
  const counted = known.reduce((sum, [, count]) => sum + count, 0);
  const which = counted === campaign_count ? t`all ${counted}` : t`newest ${counted}`;
  const words = known.map(([state, count]) => (known.length === 1 ? state : `${count} ${state}`)).join(", ");
  const Look = "failed" in recent_states ? Problem : Detail;
  return <Look>{`${which}: ${words}`}</Look>;
}

function InnerRows({ filter, columns }: { filter: CampaignFilter; columns: Columns }) {
  const campaigns = useInfiniteQuery(campaignsQuery(filter));
  const headlines = useHeadlines(campaigns.data ?? []);
  const width = columns.hasOwners ? 7 : 6;
  if (!campaigns.data)
    return (
      <tr>
        <td colSpan={width}>
          <Loaded query={campaigns}>{() => null}</Loaded>
        </td>
      </tr>
    );
  return (
    <>
      {campaigns.data.map((campaign) => (
        <CampaignRow
          campaign={campaign}
          columns={columns}
          headline={headlines.get(campaign.id)}
          isInner
          key={campaign.id}
        />
      ))}
      {campaigns.hasNextPage && (
        <tr>
          <td colSpan={width}>
            <ShowMore query={campaigns} />
          </td>
        </tr>
      )}
    </>
  );
}
