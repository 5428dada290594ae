/** Builds a campaign: nodes x targets x workloads x options x repeats, with what it comes to at its side. */

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
