/** Campaign builder in three steps: where and what, review, when. The draft is one for all of them. */

import { t } from "@lingui/core/macro";
import { Grid, Group, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "@/api/errors";
import type { Campaign, CampaignPlan, Node, Target, Workload } from "@/api/types";
import { ConfirmButton } from "@/components/buttons";
import { Section } from "@/components/Page";
import { previewQuery } from "../queries";
import { SaveTemplate } from "../templates/TemplatesSection";
import { AdvancedFold } from "./AdvancedFold";
import { chooseWhen, type StoredSchedule } from "./calendar";
import { type Draft, draftOf, EMPTY_DRAFT, emptyDraft, missingParts, planOf, refusedOption } from "./draft";
import { ErasedDisks } from "./ErasedDisks";
import { useIdempotencyKey } from "./idempotencyKey";
import { useKeptDraft } from "./keptDraft";
import { MatrixSection } from "./MatrixSection";
import { PlacesSection } from "./PlacesSection";
import { PlanFile } from "./PlanFile";
import { PreviewPanel } from "./PreviewPanel";
import { ReadyMade } from "./ReadyMade";
import { RepeatsSection } from "./RepeatsSection";
import { ScratchSection, type SetsQuery } from "./ScratchSection";
import { ScratchVariants } from "./ScratchVariants";
import { StepBar } from "./StepBar";
import { StepLinks } from "./StepLinks";
import { Submits } from "./Submits";
import { type ScheduleSaving, useScheduleName, useScheduleSaving } from "./scheduleName";
import type { BuilderStep } from "./steps";
import { WhenSection } from "./WhenSection";
import { WorkloadsSection } from "./WorkloadsSection";

const PREVIEW_DELAY_MILLISECONDS = 400;

interface CampaignBuilderProps {
  readonly cluster: { readonly id: number; readonly name: string };
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly workloads: readonly Workload[];
  readonly scratchSets: SetsQuery;
  readonly step: BuilderStep;
  /** Plan of the campaign to duplicate. */
  readonly original: CampaignPlan | undefined;
  /** The draft starts as a schedule for every night. */
  readonly isNightly: boolean;
  readonly schedule: StoredSchedule | undefined;
  /** Template that the draft started from. */
  readonly templateId: number | undefined;
  /** Key of the stored draft. */
  readonly draftKey: string;
  readonly onSubmitted: (campaign: Campaign) => void;
  readonly onScheduled: () => void;
}

export function CampaignBuilder({ cluster, draftKey, step, ...props }: CampaignBuilderProps) {
  const { draft, change, forget, isKept } = useKeptDraft({
    key: draftKey,
    clusterId: cluster.id,
    start: startOf(props),
    nodes: props.nodes,
    targets: props.targets,
  });
  const missing = missingParts(draft, props.workloads);
  const plan = missing.length === 0 ? planOf(draft, cluster.name, props.workloads) : undefined;
  const preview = usePreview(plan);
  const idempotencyKey = useIdempotencyKey(plan);
  const scheduleName = useScheduleName(draft, cluster.id, props.schedule);
  const save = useScheduleSaving();
  const shared = {
    ...props,
    scheduleName,
    save,
    clusterId: cluster.id,
    draft,
    idempotencyKey,
    missing,
    onChange: change,
    plan,
    preview,
  };
  return (
    <Stack>
      <Group align="flex-end" justify="space-between">
        <StepLinks current={step} />
        {step === "what" && <NameInput draft={draft} onChange={change} />}
      </Group>
      {step === "what" && <WhatStep {...shared} />}
      {step === "review" && <ReviewStep {...shared} />}
      {step === "when" && <WhenStep {...shared} />}
      <StepBar
        discard={isKept && <DiscardButton onDiscard={forget} />}
        error={preview.error}
        missing={missing}
        preview={plan && preview.data}
        step={step}
        warning={<ErasedDisks scratch={draft.scratch} sets={props.scratchSets.data ?? []} />}
      >
        <Submits {...shared} forget={forget} step={step} />
      </StepBar>
    </Stack>
  );
}

type Start = Pick<CampaignBuilderProps, "original" | "schedule" | "isNightly" | "nodes" | "targets">;

function startOf({ original, schedule, isNightly, ...offer }: Start): Draft {
  const draft = original ? draftOf(original, schedule?.repeat) : emptyDraft(offer);
  return isNightly ? { ...draft, ...chooseWhen(draft.repeat, draft.window, "nightly") } : draft;
}

interface StepProps
  extends Pick<
    CampaignBuilderProps,
    "nodes" | "targets" | "workloads" | "scratchSets" | "schedule" | "templateId"
  > {
  readonly clusterId: number;
  readonly draft: Draft;
  readonly missing: readonly string[];
  readonly plan: CampaignPlan | undefined;
  readonly preview: ReturnType<typeof usePreview>;
  readonly idempotencyKey: string;
  readonly scheduleName: string;
  readonly save: ScheduleSaving;
  readonly onChange: (draft: Draft) => void;
}

function WhatStep({ draft, onChange, preview, ...props }: StepProps) {
  return (
    <Stack>
      {draft.choices.length === 0 && !props.schedule && (
        <ReadyMade draft={draft} onChange={onChange} workloads={props.workloads} />
      )}
      <PlacesSection draft={draft} nodes={props.nodes} onChange={onChange} targets={props.targets} />
      <ScratchSection
        draft={draft}
        onChange={onChange}
        preview={draft.scratch && !preview.error ? preview.data : undefined}
        sets={props.scratchSets}
      />
      <WorkloadsSection
        draft={draft}
        nodes={props.nodes}
        onChange={onChange}
        refused={refusalOf(preview.error)}
        workloads={props.workloads}
      />
      <AdvancedFold {...props} draft={draft} onChange={onChange} />
    </Stack>
  );
}

function ReviewStep({ draft, onChange, missing, preview, plan, clusterId, ...props }: StepProps) {
  const shown = plan && !preview.error ? preview.data : undefined;
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <Stack>
          <PreviewPanel
            error={preview.error}
            isFetching={preview.isFetching}
            missing={missing}
            preview={preview.data}
          />
          <RepeatsSection draft={draft} onChange={onChange} power={shown?.power} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 8 }}>
        <Stack>
          {shown?.scratch && (
            <Section title={t`Scratch disks`}>
              <ScratchVariants preview={shown.scratch} />
            </Section>
          )}
          {shown && <MatrixSection preview={shown} />}
          {plan && (
            <PlanFile
              draft={draft}
              idempotencyKey={props.idempotencyKey}
              plan={plan}
              scheduleName={props.scheduleName}
            />
          )}
          <SaveTemplate clusterId={clusterId} plan={plan} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function WhenStep({ draft, onChange, scheduleName, save }: StepProps) {
  function rename(name: string): void {
    save.reset();
    onChange({ ...draft, scheduleName: name });
  }
  return (
    <WhenSection
      draft={draft}
      name={scheduleName}
      nameProblem={save.isNameTaken ? save.error?.message : undefined}
      onChange={(part) => onChange({ ...draft, ...part })}
      onRename={rename}
    />
  );
}

function NameInput({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  return (
    <TextInput
      flex="0 1 400px"
      label={t`Campaign name`}
      onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
      placeholder={t`nightly-scratch`}
      title={t`Letters, digits, dots, dashes and underscores.`}
      value={draft.name}
    />
  );
}

function DiscardButton({ onDiscard }: { onDiscard: () => void }) {
  return (
    <ConfirmButton
      onConfirm={onDiscard}
      title={t`Discard draft?`}
      body={t`The draft is kept in this tab until you submit it. Discarding it resets the form.`}
      yes={t`Discard`}
      variant="subtle"
    >{t`Discard draft`}</ConfirmButton>
  );
}

/** Request the preview once typing pauses. Compares plans as text, since each render creates a new object. */
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
