/** One campaign: its progress, what can be done with it, and below it results, runs or the plan. */

import { Alert, Button, Stack, Tabs, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Campaign } from "@/api/types";
import { Command } from "@/components/Command";
import { ConfirmButton } from "@/components/ConfirmButton";
import { ButtonLink, TextLink } from "@/components/links";
import { MadeUpBadge } from "@/components/MadeUp";
import { Page, Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { useMay } from "@/components/session";
import { When } from "@/components/When";
import { planAsYaml } from "./builder/export";
import { CampaignProgress, isOpen } from "./CampaignProgress";
import type { FigureView } from "./figure/choice";
import { FigureSection } from "./figure/FigureSection";
import { PausePanel } from "./PausePanel";
import { PriorityControl } from "./PriorityControl";
import { cancelCampaign } from "./queries";
import { ResultsTable } from "./ResultsTable";
import { StageBand } from "./StageBand";

export const CAMPAIGN_TABS = ["results", "runs", "plan"] as const;
export type CampaignTab = (typeof CAMPAIGN_TABS)[number];

interface CampaignViewProps {
  readonly campaign: Campaign;
  readonly tab: CampaignTab;
  readonly onTab: (tab: CampaignTab) => void;
  readonly figure: FigureView;
  readonly onFigure: (view: FigureView) => void;
  /** The runs that load now, with their bars. */
  readonly activeRuns: ReactNode;
  readonly runs: ReactNode;
  readonly advice: ReactNode;
}

export function CampaignView(props: CampaignViewProps) {
  const { campaign, tab, onTab, figure, onFigure, activeRuns, runs, advice } = props;
  return (
    <Page
      actions={<Actions campaign={campaign} />}
      title={campaign.name}
      trail={<Trail campaign={campaign} />}
    >
      {campaign.plan.note && <Text>{campaign.plan.note}</Text>}
      {campaign.state === "paused" && <PausePanel campaign={campaign} />}
      {campaign.counts.failed > 0 && <FailedHint campaign={campaign} />}
      <Section
        actions={
          <>
            <PriorityControl campaign={campaign} />
            <StateBadge state={campaign.state} />
          </>
        }
        title="Progress"
      >
        <Stack gap="sm">
          <CampaignProgress campaign={campaign} />
          <StageBand stages={campaign.stages} />
          {activeRuns}
        </Stack>
      </Section>
      <Tabs
        onChange={(chosen) => onTab(CAMPAIGN_TABS.find((known) => known === chosen) ?? "results")}
        value={tab}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="results">Results</Tabs.Tab>
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          <Tabs.Tab value="plan">Plan</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="results">
          <Stack gap="lg">
            <FigureSection campaign={campaign} onView={onFigure} view={figure} />
            <Section title="Results">
              <ResultsTable campaign={campaign} />
            </Section>
            {advice}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="runs">{runs}</Tabs.Panel>
        <Tabs.Panel value="plan">
          <Section title="Plan">
            <Command label="Copy YAML" text={planAsYaml(campaign.plan)} />
          </Section>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Trail({ campaign }: { campaign: Campaign }) {
  return (
    <>
      <TextLink to="/campaigns" underline="always">
        Campaigns
      </TextLink>{" "}
      · {campaign.cluster_name} <MadeUpBadge clusterId={campaign.cluster_id} /> · submitted by{" "}
      {campaign.owner} <When at={campaign.created_at} />
      {campaign.schedule_id !== null && (
        <>
          {" "}
          · schedule{" "}
          <TextLink search={{ schedule: campaign.schedule_id }} to="/campaigns/new" underline="always">
            {campaign.schedule_name}
          </TextLink>
        </>
      )}
    </>
  );
}

function FailedHint({ campaign }: { campaign: Campaign }) {
  return (
    <Alert color="red" title={`${campaign.counts.failed} failed`} variant="light">
      Each run says why, with the output of its commands.{" "}
      <ButtonLink
        params={{ campaignId: campaign.id }}
        replace
        search={{ tab: "runs", state: "failed" }}
        size="compact-xs"
        to="/campaigns/$campaignId"
        variant="default"
      >
        Show the runs
      </ButtonLink>
    </Alert>
  );
}

function Actions({ campaign }: { campaign: Campaign }) {
  return (
    <>
      <ButtonLink
        search={{ cluster: campaign.cluster_id, from: campaign.id }}
        to="/campaigns/new"
        variant="default"
      >
        Duplicate
      </ButtonLink>
      <ButtonLink search={{ b: campaign.id }} to="/compare" variant="default">
        Compare
      </ButtonLink>
      <Button component="a" href={`/api/v1/campaigns/${campaign.id}/samples.csv`} variant="default">
        CSV
      </Button>
      <CancelButton campaign={campaign} />
    </>
  );
}

function CancelButton({ campaign }: { campaign: Campaign }) {
  const cancel = useMutation(cancelCampaign);
  const mayCancel = useMay("operator", campaign.cluster_id);
  if (!mayCancel || !isOpen(campaign)) return null;
  const left = campaign.counts.active + campaign.counts.waiting;
  return (
    <ConfirmButton
      loading={cancel.isPending}
      onConfirm={() => cancel.mutate(campaign.id)}
      question={{
        title: `Cancel ${campaign.name}?`,
        body: `${left} runs have not ended: those that load now are stopped and their files removed. Results stay.`,
        yes: "Cancel the campaign",
        no: "Let it run",
      }}
    >
      Cancel
    </ConfirmButton>
  );
}
