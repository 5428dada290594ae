import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ButtonLink, TextLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { CampaignTable } from "./CampaignTable";
import { campaignsQuery } from "./queries";

export function RunningCampaigns() {
  const active = useInfiniteQuery(campaignsQuery({ state: "active" }));
  const waiting = useInfiniteQuery(campaignsQuery({ state: "waiting" }));
  const paused = useInfiniteQuery(campaignsQuery({ state: "paused" }));
  const failed = [waiting, paused].find(({ error }) => error) ?? active;
  const all = paused.data && active.data && waiting.data && [...paused.data, ...active.data, ...waiting.data];
  return (
    <Section
      actions={<ButtonLink to="/campaigns/new">{t`New campaign`}</ButtonLink>}
      title={t`Running campaigns`}
    >
      <Loaded empty={<Nothing />} query={{ ...failed, data: all }}>
        {(campaigns) => (
          <Stack gap="xs">
            <CampaignTable campaigns={campaigns} label={t`Running campaigns`} />
            <TextLink size="sm" to="/campaigns">{t`All campaigns`}</TextLink>
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Nothing() {
  return (
    <Text c="dimmed">
      <Trans>
        No campaigns are running. See{" "}
        <TextLink to="/campaigns" underline="always">
          earlier campaigns
        </TextLink>
        .
      </Trans>
    </Text>
  );
}
