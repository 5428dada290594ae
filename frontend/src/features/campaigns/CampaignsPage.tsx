import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { CampaignGroup, ListedCampaign } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { Loaded, Page, ShowMore } from "@/components/Page";
import { CampaignFilters } from "./CampaignFilters";
import { CampaignRow, CampaignTable } from "./CampaignTable";
import { filterOf, hasFilter, isGrouped, type ListView, toggleOpen } from "./listView";
import { campaignGroupsQuery, campaignsQuery } from "./queries";
import { ScheduleRows } from "./ScheduleRows";
import { useHeadlines } from "./useHeadlines";

interface CampaignsPageProps {
  readonly view: ListView;
  readonly onView: (change: ListView) => void;
}

export function CampaignsPage({ view, onView }: CampaignsPageProps) {
  const List = isGrouped(view) ? GroupedCampaigns : FlatCampaigns;
  return (
    <Page actions={<ButtonLink to="/campaigns/new">{t`New campaign`}</ButtonLink>} title={t`Campaigns`}>
      <List onView={onView} view={view} />
    </Page>
  );
}

function FlatCampaigns({ view, onView }: CampaignsPageProps) {
  const campaigns = useInfiniteQuery(campaignsQuery(filterOf(view)));
  const groups = campaigns.data?.map((newest) => ({ newest, schedule: null }));
  return <CampaignList groups={groups} onView={onView} query={campaigns} view={view} />;
}

function GroupedCampaigns({ view, onView }: CampaignsPageProps) {
  const groups = useInfiniteQuery(campaignGroupsQuery(filterOf(view)));
  return <CampaignList groups={groups.data} onView={onView} query={groups} view={view} />;
}

interface CampaignListProps extends CampaignsPageProps {
  readonly groups: readonly CampaignGroup[] | undefined;
  readonly query: Parameters<typeof ShowMore>[0]["query"] &
    Pick<Parameters<typeof Loaded>[0]["query"], "isRefetchError" | "dataUpdatedAt" | "refetch">;
}

const NO_GROUPS: readonly CampaignGroup[] = [];

function CampaignList({ groups, query, view, onView }: CampaignListProps) {
  const campaigns = (groups ?? NO_GROUPS).map(({ newest }) => newest);
  const headlines = useHeadlines(campaigns);
  const owners = ownersOf(campaigns);
  const columns = { hasOwners: owners.length > 0 };
  return (
    <Stack>
      <CampaignFilters onView={onView} owners={owners} view={view} />
      <Loaded empty={<NoCampaign view={view} />} lines={12} query={{ ...query, data: groups }}>
        {(rows) => (
          <CampaignTable campaigns={campaigns} columns={columns} label={t`Campaigns`}>
            {rows.map(({ newest, schedule }) =>
              schedule && schedule.campaign_count > 1 ? (
                <ScheduleRows
                  columns={columns}
                  filter={filterOf(view)}
                  headline={headlines.get(newest.id)}
                  isOpen={view.open?.includes(schedule.id) ?? false}
                  key={newest.id}
                  newest={newest}
                  onToggle={() => onView(toggleOpen(view, schedule.id))}
                  schedule={schedule}
                />
              ) : (
                <CampaignRow
                  campaign={newest}
                  columns={columns}
                  headline={headlines.get(newest.id)}
                  key={newest.id}
                />
              ),
            )}
          </CampaignTable>
        )}
      </Loaded>
      <ShowMore query={query} />
    </Stack>
  );
}

function ownersOf(campaigns: readonly ListedCampaign[]): string[] {
  return [...new Set(campaigns.flatMap(({ owner }) => owner ?? []))].sort();
}

function NoCampaign({ view }: { view: ListView }) {
  if (hasFilter(view)) return <Text c="dimmed">{t`No campaigns match. Clear a filter to see more.`}</Text>;
  return (
    <Stack align="flex-start" gap="xs">
      <Text>
        <Trans>
          No campaigns yet. A campaign runs workloads on nodes and targets several times and shows the results
          with their spread.
        </Trans>
      </Text>
      <ButtonLink to="/campaigns/new" variant="light">{t`Create campaign`}</ButtonLink>
    </Stack>
  );
}
