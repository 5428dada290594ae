/** The campaigns that run or wait now, for the overview. */

import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Loaded } from "@/components/Loaded";
import { ButtonLink, TextLink } from "@/components/links";
import { Section } from "@/components/Page";
import { CampaignTable } from "./CampaignTable";
import { campaignsQuery } from "./queries";

export function RunningCampaigns() {
  const active = useInfiniteQuery(campaignsQuery({ state: "active" }));
  const waiting = useInfiniteQuery(campaignsQuery({ state: "waiting" }));
  return (
    <Section actions={<ButtonLink to="/campaigns/new">New campaign</ButtonLink>} title="Running now">
      <Loaded query={active}>
        {(running) => {
          const campaigns = [...running, ...(waiting.data ?? [])];
          if (campaigns.length === 0) return <Nothing />;
          return (
            <Stack gap="xs">
              <CampaignTable campaigns={campaigns} label="Running campaigns" />
              <TextLink size="sm" to="/campaigns">
                All campaigns
              </TextLink>
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Nothing() {
  return (
    <Text c="dimmed">
      Nothing runs.{" "}
      <TextLink to="/campaigns" underline="always">
        Earlier campaigns
      </TextLink>{" "}
      keep their results.
    </Text>
  );
}
