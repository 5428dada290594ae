import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Stack, Tabs, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Campaign } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { Command } from "@/components/Command";
import { ButtonLink, TextLink } from "@/components/links";
import { OriginBadge, useOrigin } from "@/components/Origin";
import { Page, Section } from "@/components/Page";
import { useMay, useMayRun } from "@/components/session";
import { When } from "@/components/values";
import { planAsYaml } from "./builder/export";
import { CampaignPill, isOpen } from "./CampaignProgress";
import { comparisonOf } from "./comparisonOf";
import type { FigureView } from "./figure/choice";
import { FigureSection } from "./figure/FigureSection";
import { PausePanel } from "./PausePanel";
import { ProgressSection } from "./ProgressSection";
import { cancelCampaign } from "./queries";
import { ResultsTable } from "./ResultsTable";
import { ScratchSteps } from "./ScratchSteps";

const CAMPAIGN_TABS = ["results", "runs", "timeline", "plan"] as const;
type CampaignTab = (typeof CAMPAIGN_TABS)[number];

interface CampaignViewProps {
  readonly campaign: Campaign;
  readonly tab: CampaignTab;
  readonly onTab: (tab: CampaignTab) => void;
  readonly figure: FigureView;
  readonly onFigure: (view: FigureView) => void;
  readonly activeRuns: ReactNode;
  readonly waitingRuns: ReactNode;
  readonly runs: ReactNode;
  readonly timeline: ReactNode;
  /** Card with the answer, above the figure. */
  readonly answer: ReactNode;
  readonly advice: ReactNode;
  readonly retryFailed: ReactNode;
  readonly onRepeats: (cellIds: readonly number[]) => void;
}

export function CampaignView(props: CampaignViewProps) {
  const { campaign, tab, onTab, figure, onFigure, activeRuns, waitingRuns, runs, timeline, advice } = props;
  const { answer, onRepeats, retryFailed } = props;
  const isPublished = useOrigin(campaign.cluster_id) === "published";
  return (
    <Page
      actions={<Actions campaign={campaign} onRepeats={() => onRepeats([])} />}
      title={campaign.name}
      status={!isPublished && <CampaignPill campaign={campaign} />}
      trail={<Trail campaign={campaign} />}
    >
      {campaign.plan.note && <Text>{campaign.plan.note}</Text>}
      {campaign.state === "paused" && <PausePanel campaign={campaign} />}
      {campaign.counts.failed > 0 && <FailedHint campaign={campaign} retryFailed={retryFailed} />}
      {!isPublished && isOpen(campaign) && (
        <ProgressSection activeRuns={activeRuns} campaign={campaign} waitingRuns={waitingRuns} />
      )}
      {!isPublished && <ScratchSteps campaign={campaign} />}
      <Tabs
        onChange={(chosen) => onTab(CAMPAIGN_TABS.find((known) => known === chosen) ?? "results")}
        value={tab}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="results">{t`Results`}</Tabs.Tab>
          <Tabs.Tab value="runs">{t`Runs`}</Tabs.Tab>
          {!isPublished && <Tabs.Tab value="timeline">{t`Timeline`}</Tabs.Tab>}
          {!isPublished && <Tabs.Tab value="plan">{t`Plan`}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="results">
          <Stack gap="lg">
            {answer}
            <FigureSection campaign={campaign} onView={onFigure} view={figure} />
            <Section title={t`Results`}>
              <ResultsTable campaign={campaign} onRepeats={(cellId) => onRepeats([cellId])} />
            </Section>
            {advice}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="runs">{runs}</Tabs.Panel>
        <Tabs.Panel value="timeline">{timeline}</Tabs.Panel>
        <Tabs.Panel value="plan">
          <Section title={t`Plan`}>
            <Command label={t`Copy YAML`} text={planAsYaml(campaign.plan)} />
          </Section>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Trail({ campaign }: { campaign: Campaign }) {
  const origin = useOrigin(campaign.cluster_id);
  return (
    <>
      <TextLink to="/campaigns" underline="always">{t`Campaigns`}</TextLink> · {campaign.cluster_name}{" "}
      <OriginBadge clusterId={campaign.cluster_id} />
      {origin !== "published" && <Submitted campaign={campaign} />}
      {campaign.schedule_id !== null && (
        <Trans>
          {" "}
          · schedule{" "}
          <TextLink search={{ schedule: campaign.schedule_id }} to="/campaigns/new" underline="always">
            {campaign.schedule_name}
          </TextLink>
        </Trans>
      )}
    </>
  );
}

/** Owner and time of the submission. Sample data and campaigns of removed users have no owner. */
function Submitted({ campaign: { owner, created_at } }: { campaign: Campaign }) {
  return owner ? (
    <Trans>
      {" "}
      · submitted by {owner} <When at={created_at} />
    </Trans>
  ) : (
    <Trans>
      {" "}
      · submitted <When at={created_at} />
    </Trans>
  );
}

function FailedHint({ campaign, retryFailed }: Pick<CampaignViewProps, "campaign" | "retryFailed">) {
  return (
    <Alert color="red" title={t`${campaign.counts.failed} failed`}>
      <Trans>
        Each run shows the reason and the output of its commands.{" "}
        <ButtonLink
          params={{ campaignId: campaign.id }}
          replace
          search={{ tab: "runs", state: "failed" }}
          size="compact-xs"
          to="/campaigns/$campaignId"
          variant="default"
        >
          Show runs
        </ButtonLink>
      </Trans>{" "}
      {retryFailed}
    </Alert>
  );
}

function Actions({ campaign, onRepeats }: { campaign: Campaign; onRepeats: () => void }) {
  const isPublished = useOrigin(campaign.cluster_id) === "published";
  const mayAdd = useMayRun(campaign.cluster_id);
  return (
    <>
      {mayAdd && <Button onClick={onRepeats} variant="default">{t`Add repeats`}</Button>}
      {!isPublished && (
        <ButtonLink
          search={{ cluster: campaign.cluster_id, from: campaign.id }}
          to="/campaigns/new"
          variant="default"
        >{t`Duplicate`}</ButtonLink>
      )}
      {!isPublished && (
        <ButtonLink
          search={{ cluster: campaign.cluster_id, from: campaign.id, repeat: "nightly", step: "when" }}
          to="/campaigns/new"
          variant="default"
        >{t`Schedule`}</ButtonLink>
      )}
      <ButtonLink search={comparisonOf(campaign)} to="/compare" variant="default">{t`Compare`}</ButtonLink>
      <ButtonLink
        params={{ campaignId: campaign.id }}
        to="/campaigns/$campaignId/report"
        variant="default"
      >{t`Report`}</ButtonLink>
      <Button
        component="a"
        href={`/api/v1/campaigns/${campaign.id}/samples.csv`}
        variant="default"
      >{t`CSV`}</Button>
      <CancelButton campaign={campaign} />
    </>
  );
}

function CancelButton({ campaign }: { campaign: Campaign }) {
  const mayCancel = useMay("operator", campaign.cluster_id);
  if (!mayCancel || !isOpen(campaign)) return null;
  const left = campaign.counts.active + campaign.counts.waiting;
  return (
    <ConfirmMutation
      title={t`Cancel ${campaign.name}?`}
      body={
        campaign.preparations.length === 0
          ? t`${left} runs have not ended. Active runs are stopped and their files removed. Results are kept.`
          : t`${left} runs have not ended. Active runs are stopped and their files removed. The node cleans the scratch disks if it made anything on them. Results are kept.`
      }
      yes={t`Cancel campaign`}
      no={t`Keep running`}
      mutation={cancelCampaign}
      variables={campaign.id}
    >{t`Cancel`}</ConfirmMutation>
  );
}
