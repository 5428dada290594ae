/** Campaign builder: nodes x targets x workloads x options x repeats, with a preview. */

import { t } from "@lingui/core/macro";
import { Grid, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "@/api/errors";
import type { Campaign, CampaignPlan, Node, Target, Workload } from "@/api/types";
import { ConfirmButton } from "@/components/buttons";
import { Section } from "@/components/Page";
import { previewQuery } from "../queries";
import { SaveTemplate, TemplatesSection } from "../templates/TemplatesSection";
import { ConditionsSection } from "./ConditionsSection";
import type { StoredSchedule } from "./calendar";
import { type Draft, draftOf, EMPTY_DRAFT, emptyDraft, missingParts, planOf, refusedOption } from "./draft";
import { useKeptDraft } from "./keptDraft";
import { PlacesSection } from "./PlacesSection";
import { PreviewPanel } from "./PreviewPanel";
import { StagesSection } from "./StagesSection";
import { Submits } from "./Submits";
import { WhenSection } from "./WhenSection";
import { WorkloadsSection } from "./WorkloadsSection";

const PREVIEW_DELAY_MILLISECONDS = 400;

interface CampaignBuilderProps {
  readonly cluster: { readonly id: number; readonly name: string };
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly workloads: readonly Workload[];
  /** Plan of the campaign to duplicate. */
  readonly original: CampaignPlan | undefined;
  readonly schedule: StoredSchedule | undefined;
  /** Template that the draft started from. */
  readonly templateId: number | undefined;
  /** Key of the stored draft. */
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
      title={t`Discard draft?`}
      body={t`The draft is kept in this tab until you submit it. Discarding it resets the form.`}
      yes={t`Discard`}
      size="xs"
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
