import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { CAMPAIGN_STATES, type CampaignState } from "@/api/states";
import { ChoiceFilter } from "@/components/filters";
import { ButtonLink } from "@/components/links";
import { Loaded, Page, Section, ShowMore } from "@/components/Page";
import { CampaignTable } from "./CampaignTable";
import { campaignsQuery } from "./queries";

interface CampaignsPageProps {
  readonly state: CampaignState | undefined;
  readonly onState: (state: CampaignState | undefined) => void;
}

export function CampaignsPage({ state, onState }: CampaignsPageProps) {
  const campaigns = useInfiniteQuery(campaignsQuery({ state }));
  return (
    <Page actions={<ButtonLink to="/campaigns/new">{t`New campaign`}</ButtonLink>} title={t`Campaigns`}>
      <Section
        actions={
          <ChoiceFilter
            all={t`All states`}
            choices={CAMPAIGN_STATES}
            label={t`State`}
            onChoose={onState}
            value={state}
          />
        }
        title={state ? `${state.charAt(0).toUpperCase()}${state.slice(1)}` : t`All`}
      >
        <Loaded empty={<NoCampaign state={state} />} query={campaigns}>
          {(rows) => (
            <Stack>
              <CampaignTable campaigns={rows} label={t`Campaigns`} />
              <ShowMore query={campaigns} />
            </Stack>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function NoCampaign({ state }: { state: CampaignState | undefined }) {
  if (state) return <Text c="dimmed">{t`No ${state} campaigns.`}</Text>;
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
