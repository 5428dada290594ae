/** Builds a campaign: nodes x targets x workloads x options x repeats, with what it comes to at its side. */

import { t } from "@lingui/core/macro";
import { Button, Grid, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/errors";
import type { Campaign, CampaignPlan, Node, Target, Workload } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { ErrorNotice, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { randomKey } from "@/lib/keys";
import { previewQuery, submitCampaign } from "../queries";
import { SaveTemplate, TemplatesSection } from "../templates/TemplatesSection";
import { ConditionsSection } from "./ConditionsSection";
import { calendarOf, type Repeat, type StoredSchedule } from "./calendar";
import { type Draft, draftOf, EMPTY_DRAFT, emptyDraft, missingParts, planOf, refusedOption } from "./draft";
import { ExportSection } from "./ExportSection";
import { useKeptDraft } from "./keptDraft";
import { PlacesSection } from "./PlacesSection";
import { PreviewPanel } from "./PreviewPanel";
import { ScheduleSubmit } from "./ScheduleSubmit";
import { StagesSection } from "./StagesSection";
import { WhenSection } from "./WhenSection";
import { WorkloadsSection } from "./WorkloadsSection";

const PREVIEW_DELAY_MILLISECONDS = 400;

interface CampaignBuilderProps {
  readonly cluster: { readonly id: number; readonly name: string };
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly workloads: readonly Workload[];
  /** The plan to start from, when a campaign is duplicated. */
  readonly original: CampaignPlan | undefined;
  readonly schedule: StoredSchedule | undefined;
  /** The template that the draft began with. */
  readonly templateId: number | undefined;
  /** Where the draft is kept. */
  readonly draftKey: string;
  readonly onSubmitted: (campaign: Campaign) => void;
  readonly onScheduled: () => void;
}

export function CampaignBuilder({ cluster, original, draftKey, ...props }: CampaignBuilderProps) {
  const { draft, change, forget, isKept } = useKeptDraft({
    key: draftKey,
    clusterId: cluster.id,
    start: original ? draftOf(original, props.schedule?.repeat) : emptyDraft(props),
    nodes: props.nodes,
    targets: props.targets,
  });
  const missing = missingParts(draft, props.workloads);
  const plan = missing.length === 0 ? planOf(draft, cluster.name, props.workloads) : undefined;
  const preview = usePreview(plan);
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <Stack>
          {!props.schedule && <TemplatesSection clusterId={cluster.id} usedId={props.templateId} />}
          <NameSection draft={draft} onChange={change} />
          <PlacesSection draft={draft} nodes={props.nodes} onChange={change} targets={props.targets} />
          <WorkloadsSection
            draft={draft}
            onChange={change}
            refused={refusalOf(preview.error)}
            workloads={props.workloads}
          />
          <ConditionsSection draft={draft} onChange={change} />
          <StagesSection draft={draft} onChange={change} />
          <WhenSection draft={draft} onChange={(part) => change({ ...draft, ...part })} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Stack className="iotide-side">
          <PreviewPanel
            error={preview.error}
            isFetching={preview.isFetching}
            missing={missing}
            preview={preview.data}
          />
          <Submits {...props} clusterId={cluster.id} forget={forget} plan={plan} repeat={draft.repeat} />
          <SaveTemplate clusterId={cluster.id} plan={plan} />
          {isKept && <DiscardButton onDiscard={forget} />}
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

interface SubmitsProps extends Pick<CampaignBuilderProps, "schedule" | "onSubmitted" | "onScheduled"> {
  readonly clusterId: number;
  readonly plan: CampaignPlan | undefined;
  readonly repeat: Repeat;
  readonly forget: () => void;
}

/** The button for now, or that for a calendar. */
function Submits({ clusterId, plan, repeat, forget, ...props }: SubmitsProps) {
  function done(tell: () => void): void {
    forget();
    tell();
  }
  if (repeat.when === "now")
    return (
      <SubmitSection
        clusterId={clusterId}
        onSubmitted={(campaign) => done(() => props.onSubmitted(campaign))}
        plan={plan}
      />
    );
  const calendar = calendarOf(repeat);
  return (
    <ScheduleSubmit
      body={
        plan &&
        calendar && { name: props.schedule?.name ?? plan.name, ...calendar, missed: repeat.missed, plan }
      }
      clusterId={clusterId}
      onSaved={() => done(props.onScheduled)}
      scheduleId={props.schedule?.id}
    />
  );
}

function NameSection({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  return (
    <Section title={t`Name`}>
      <TextInput
        aria-label={t`Campaign name`}
        description={t`Letters, digits, dots, dashes and underscores.`}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        placeholder={t`nightly-scratch`}
        value={draft.name}
      />
    </Section>
  );
}

function DiscardButton({ onDiscard }: { onDiscard: () => void }) {
  return (
    <ConfirmButton
      onConfirm={onDiscard}
      title={t`Discard the draft?`}
      body={t`What you entered is kept in this tab until you submit it. Discarded, the form starts anew.`}
      yes={t`Discard it`}
      size="xs"
    >{t`Discard draft`}</ConfirmButton>
  );
}

/** The server's preview of the plan, asked for once typing pauses; as text, since each render makes the plan anew. */
function usePreview(plan: CampaignPlan | undefined) {
  const [text] = useDebouncedValue(plan ? JSON.stringify(plan) : "", PREVIEW_DELAY_MILLISECONDS);
  const settled = text ? (JSON.parse(text) as CampaignPlan) : undefined;
  return useQuery({ ...previewQuery(settled ?? emptyPlan()), enabled: settled !== undefined });
}

function emptyPlan(): CampaignPlan {
  return planOf(EMPTY_DRAFT, "", []);
}

function refusalOf(error: Error | null) {
  const found = error instanceof ApiError ? refusedOption(error.field) : null;
  return found && error ? { ...found, message: error.message } : null;
}

interface SubmitSectionProps {
  readonly clusterId: number;
  readonly plan: CampaignPlan | undefined;
  readonly onSubmitted: (campaign: Campaign) => void;
}

function SubmitSection({ clusterId, plan, onSubmitted }: SubmitSectionProps) {
  const submit = useMutation(submitCampaign);
  const idempotencyKey = useKeyOf(plan);
  const maySubmit = useMay("operator", clusterId);
  return (
    <>
      {submit.error && <ErrorNotice error={submit.error} />}
      <Button
        disabled={!plan || !maySubmit}
        loading={submit.isPending}
        onClick={() => plan && submit.mutate({ plan, idempotencyKey }, { onSuccess: onSubmitted })}
        size="md"
      >
        {maySubmit ? t`Submit campaign` : t`Only an operator can submit`}
      </Button>
      {plan && <ExportSection idempotencyKey={idempotencyKey} plan={plan} />}
    </>
  );
}

/** A key that stays with one plan, so that a second click or a retry cannot make a second campaign. */
function useKeyOf(plan: CampaignPlan | undefined): string {
  const text = JSON.stringify(plan ?? null);
  const [kept, setKept] = useState({ text, key: randomKey() });
  if (kept.text === text) return kept.key;
  const fresh = { text, key: randomKey() };
  setKept(fresh);
  return fresh.key;
}
