/** /published: a source as a figure, compared with a campaign of one's own. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Campaign, PublishedSource } from "@/api/types";
import { Command } from "@/components/Command";
import { ButtonLink } from "@/components/links";
import { useClusters } from "@/components/Origin";
import { Loaded, Page, Section } from "@/components/Page";
import type { FigureView } from "@/features/campaigns/figure/choice";
import { FigureSection } from "@/features/campaigns/figure/FigureSection";
import { campaignQuery } from "@/features/campaigns/queries";
import { publishedSourcesQuery } from "@/features/published/queries";
import { Cited, ClaimSection, SourcesTable } from "@/features/published/SourcesTable";
import { optionOf, PICKER, useKnown } from "./ComparedCampaigns";
import { CompareTabs } from "./PlaceTabs";

const route = getRouteApi("/shell/published");

/** Figures of published sources that need another than the default. */
const FIGURES: Readonly<Record<string, FigureView>> = {
  "nus-svu-gpfs": { kind: "parts", x: "file_size_bytes", against: "gpfs" },
};

export default function PublishedRoute() {
  const { source: key, cluster } = route.useSearch();
  const sources = useQuery(publishedSourcesQuery);
  return (
    <Page title={t`Published results`}>
      <CompareTabs />
      <Loaded empty={<NothingLoaded />} lines={8} query={sources}>
        {(found) => {
          const chosen = chooseSource(found, key, cluster);
          return (
            <>
              <Section
                description={t`Results that others measured and published, as printed, to compare with your own. They are read-only, and iotide draws no conclusions from them automatically.`}
                title={t`Sources`}
              >
                <SourcesTable chosen={chosen?.key} sources={found} />
              </Section>
              {chosen && <ChosenSource key={chosen.key} source={chosen} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** Return the source in the address, else one of the cluster in the address, else the first. */
function chooseSource(
  sources: readonly PublishedSource[],
  key: string | undefined,
  cluster: number | undefined,
): PublishedSource | undefined {
  return (
    sources.find((source) => source.key === key) ??
    sources.find(({ campaigns }) => campaigns.some(({ cluster_id }) => cluster_id === cluster)) ??
    sources[0]
  );
}

function NothingLoaded() {
  return (
    <Section title={t`No published results are loaded`}>
      <Stack>
        <Text>
          <Trans>
            iotide includes storage measurements published by others. Run this command on the server to load
            them. Running it again changes nothing:
          </Trans>
        </Text>
        <Command label={t`Copy`} text={t`iotide-server load-published`} />
      </Stack>
    </Section>
  );
}

function ChosenSource({ source }: { source: PublishedSource }) {
  const { own, figure } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: chosen } = useQuery({ ...campaignQuery(own ?? 0), enabled: own !== undefined });
  const [first, beside] = useMemo(() => sidesOf(source, chosen), [source, chosen]);
  type Search = ReturnType<typeof route.useSearch>;
  const choose = (change: Search) =>
    void navigate({
      search: (search: Search) => ({ ...search, source: source.key, ...change }),
      replace: true,
    });
  if (!first) return null;
  return (
    <>
      <Section
        actions={<Ways campaignId={first.id} own={own} />}
        description={<Cited source={source} />}
        title={source.shows}
      >
        <Stack gap="sm">
          <Text size="sm">{source.caution}</Text>
          {source.claim && (
            <ClaimSection claim={source.claim} workload={source.campaigns[0]?.workload ?? ""} />
          )}
          <OwnCampaign onChoose={(id) => choose({ own: id })} own={own} />
        </Stack>
      </Section>
      <FigureSection
        beside={beside}
        campaign={first}
        onView={(view) => choose({ figure: view })}
        view={figure ?? FIGURES[source.key] ?? {}}
      />
    </>
  );
}

function sidesOf(source: PublishedSource, own: Campaign | undefined) {
  const [first, ...others] = source.campaigns.map(({ campaign_id, campaign_name, cluster_name }) => ({
    id: campaign_id,
    name: campaign_name,
    cluster_name,
  }));
  return [first, own ? [...others, own] : others] as const;
}

function Ways({ campaignId, own }: { campaignId: number; own: number | undefined }) {
  return (
    <Group gap="xs">
      <ButtonLink
        params={{ campaignId }}
        size="xs"
        to="/campaigns/$campaignId"
        variant="default"
      >{t`Campaign`}</ButtonLink>
      <ButtonLink
        search={{ a: campaignId, b: own }}
        size="xs"
        to="/compare"
        variant="default"
      >{t`Compare`}</ButtonLink>
    </Group>
  );
}

interface OwnCampaignProps {
  readonly own: number | undefined;
  readonly onChoose: (id: number | undefined) => void;
}

function OwnCampaign({ own, onChoose }: OwnCampaignProps) {
  const known = useKnown(own === undefined ? [] : [own]);
  const published = new Set(
    useClusters()
      .filter(({ origin }) => origin === "published")
      .map(({ id }) => id),
  );
  return (
    <Select
      {...PICKER}
      clearable
      data={known.filter(({ cluster_id }) => !published.has(cluster_id)).map(optionOf)}
      description={t`Its bars appear in the same figure, labelled with its cluster. Use the sizes of the source so that bars line up: 4 GB, not 4 GiB.`}
      label={t`Compare with your campaign`}
      maw={520}
      onChange={(id) => onChoose(id === null ? undefined : Number(id))}
      value={own === undefined ? null : String(own)}
    />
  );
}
