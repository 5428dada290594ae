/** The start of a comparison: the latest campaigns to tick, and the ways to compare them. */

import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { CampaignHeadline, ListedCampaign } from "@/api/types";
import { CampaignLink } from "@/components/links";
import { Detail, RowButton } from "@/components/looks";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { useHeadlines } from "@/features/campaigns/useHeadlines";
import { type Way, waysOf } from "@/features/comparison/ways";
import { plainTitle } from "@/lib/options";
import { CampaignsPicker, MOST_CAMPAIGNS, useKnown } from "./ComparedCampaigns";

const MOST_LISTED = 10;

interface CompareStartProps {
  readonly onChoose: (search: Way["search"]) => void;
}

export function CompareStart({ onChoose }: CompareStartProps) {
  const [ticked, setTicked] = useState<readonly number[]>([]);
  const known = useKnown(ticked);
  const listed = known.filter(({ counts }) => counts.finished > 0).slice(0, MOST_LISTED);
  const headlines = useHeadlines(listed);
  const chosen = ticked.flatMap((id) => known.find((one) => one.id === id) ?? []);
  const toggle = (id: number) =>
    setTicked(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id]);
  return (
    <Section
      description={t`Tick one campaign to compare its targets, nodes or options, or several to compare them with each other.`}
      title={t`What do you want to compare?`}
    >
      <Stack>
        <Ways chosen={chosen} onChoose={onChoose} />
        {listed.length > 0 && (
          <ScrollTable
            head={["", t`Campaign`, t`Cluster`, t`Varies`, t`Runs`, t`Ended`, ""]}
            label={t`Latest campaigns`}
          >
            {listed.map((campaign) => (
              <CampaignRow
                campaign={campaign}
                isFull={ticked.length >= MOST_CAMPAIGNS}
                isTicked={ticked.includes(campaign.id)}
                key={campaign.id}
                onPrevious={previousOf(headlines.get(campaign.id), onChoose)}
                onToggle={() => toggle(campaign.id)}
              />
            ))}
          </ScrollTable>
        )}
        <CampaignsPicker campaignIds={ticked} onChoose={setTicked} />
      </Stack>
    </Section>
  );
}

/** Return what compares a campaign with the previous one of its schedule; undefined if there is none. */
function previousOf(headline: CampaignHeadline | undefined, onChoose: CompareStartProps["onChoose"]) {
  const { campaign_id: b, previous } = headline ?? {};
  if (b === undefined || !previous) return undefined;
  return () => onChoose({ a: previous.campaign_id, b });
}

interface WaysProps extends CompareStartProps {
  readonly chosen: readonly ListedCampaign[];
}

function Ways({ chosen, onChoose }: WaysProps) {
  const ways = waysOf(chosen);
  const missing = ways.flatMap((way) => (way.missing ? [`${way.label.toLowerCase()}: ${way.missing}`] : []));
  return (
    <div>
      <Group gap="xs">
        {ways.map((way) => (
          <Button disabled={way.missing !== null} key={way.label} onClick={() => onChoose(way.search)}>
            {way.label}
          </Button>
        ))}
      </Group>
      <Detail mt={4}>
        {chosen.length === 0 ? t`Tick at least one campaign below.` : missing.join("; ")}
      </Detail>
    </div>
  );
}

interface CampaignRowProps {
  readonly campaign: ListedCampaign;
  readonly isTicked: boolean;
  readonly isFull: boolean;
  readonly onToggle: () => void;
  readonly onPrevious: (() => void) | undefined;
}

function CampaignRow({ campaign, isTicked, isFull, onToggle, onPrevious }: CampaignRowProps) {
  const { id, name, cluster_name, counts, ended_at } = campaign;
  return (
    <Row>
      <Checkbox
        aria-label={t`Compare campaign ${id}`}
        checked={isTicked}
        disabled={isFull && !isTicked}
        onChange={onToggle}
      />
      <td className="iotide-name">
        <CampaignLink fw={600} id={id} name={name} />
        <Detail>{id}</Detail>
      </td>
      {cluster_name}
      <td className="iotide-wrap">{variesWords(campaign)}</td>
      {t`${counts.finished} finished`}
      {ended_at ? <When at={ended_at} /> : <Text c="dimmed" inherit>{t`running`}</Text>}
      {onPrevious && (
        <RowButton
          aria-label={t`Compare campaign ${id} with the previous one`}
          onClick={onPrevious}
        >{t`Compare with previous`}</RowButton>
      )}
    </Row>
  );
}

/** For example `2 targets, file size`. */
function variesWords({ plan }: ListedCampaign): string {
  if (!plan) return "";
  const swept = plan.workloads.flatMap(({ sweep = {} }) => Object.keys(sweep));
  return [
    plan.workloads.map(({ workload }) => workload).join(", "),
    plan.targets.length > 1 && t`${plan.targets.length} targets`,
    plan.nodes.length > 1 && t`${plan.nodes.length} nodes`,
    [...new Set(swept)].map((option) => plainTitle(option).toLowerCase()).join(", "),
  ]
    .filter(Boolean)
    .join(" · ");
}
