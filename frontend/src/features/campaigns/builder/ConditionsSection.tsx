import { t } from "@lingui/core/macro";
import { Select, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Section } from "@/components/Page";
import { CountInput } from "./CountInput";
import { coolDownProblem, type Draft, timeLimitProblem } from "./draft";
import { type DraftQuiet, POLICIES, quietProblem } from "./quiet";

export const EXCLUSIVITY: readonly { value: CampaignPlan["exclusive"]; label: string }[] = [
  { value: "node", label: t`Exclusive node` },
  { value: "node+target", label: t`Exclusive node and target` },
  { value: "cluster", label: t`Exclusive cluster` },
  { value: "none", label: t`Shared with other runs` },
];

export const CACHE: readonly { value: CampaignPlan["cache"]; label: string }[] = [
  { value: "drop", label: t`Drop caches before reads` },
  { value: "remount", label: t`Remount targets before reads` },
  { value: "larger_than_memory", label: t`Data twice as large as memory` },
  { value: "none", label: t`None (reads are flagged)` },
];

interface ConditionsSectionProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function ConditionsSection({ draft, onChange }: ConditionsSectionProps) {
  return (
    <Section title={t`Conditions`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <ExclusivitySelect draft={draft} onChange={onChange} />
        <CacheSelect draft={draft} onChange={onChange} />
        <QuietInputs onChange={(quiet) => onChange({ ...draft, quiet })} quiet={draft.quiet} />
        <DurationInputs draft={draft} onChange={onChange} />
        <CountInput
          description={t`A run is retried if the agent disappears or declines it.`}
          label={t`Maximum attempts`}
          max={10}
          min={1}
          onChange={(attemptsAllowed) => onChange({ ...draft, attemptsAllowed })}
          value={draft.attemptsAllowed}
        />
        <CountInput
          description={t`0 (default) to 9 (highest). Each step is worth one hour of queue time.`}
          label={t`Priority`}
          max={9}
          min={0}
          onChange={(priority) => onChange({ ...draft, priority })}
          value={draft.priority}
        />
        <Textarea
          autosize
          description={t`Reason for the campaign, shown with the results.`}
          label={t`Note`}
          onChange={(event) => onChange({ ...draft, note: event.currentTarget.value })}
          value={draft.note}
        />
      </SimpleGrid>
    </Section>
  );
}

function ExclusivitySelect({ draft, onChange }: ConditionsSectionProps) {
  return (
    <Select
      allowDeselect={false}
      data={[...EXCLUSIVITY]}
      description={t`Resources that no other run may use at the same time.`}
      label={t`Exclusivity`}
      onChange={(exclusive) => exclusive && onChange({ ...draft, exclusive })}
      value={draft.exclusive}
    />
  );
}

function CacheSelect({ draft, onChange }: ConditionsSectionProps) {
  return (
    <Select
      allowDeselect={false}
      data={[...CACHE]}
      description={t`How reads avoid the node's memory.`}
      label={t`Cache`}
      onChange={(cache) => cache && onChange({ ...draft, cache })}
      value={draft.cache}
    />
  );
}

function DurationInputs({ draft, onChange }: ConditionsSectionProps) {
  return (
    <>
      <TextInput
        description={t`Idle time of the node after each run.`}
        error={coolDownProblem(draft)}
        label={t`Cool-down`}
        onChange={(event) => onChange({ ...draft, coolDown: event.currentTarget.value })}
        value={draft.coolDown}
      />
      <TextInput
        description={t`Runs that take longer are stopped.`}
        error={timeLimitProblem(draft)}
        label={t`Run time limit`}
        onChange={(event) => onChange({ ...draft, timeLimit: event.currentTarget.value })}
        value={draft.timeLimit}
      />
    </>
  );
}

interface QuietInputsProps {
  readonly quiet: DraftQuiet;
  readonly onChange: (quiet: DraftQuiet) => void;
}

function QuietInputs({ quiet, onChange }: QuietInputsProps) {
  return (
    <>
      <Select
        allowDeselect={false}
        data={POLICIES.map(({ value, label }) => ({ value, label }))}
        description={POLICIES.find(({ value }) => value === quiet.policy)?.does}
        label={t`Other load on the node`}
        onChange={(policy) => policy && onChange({ ...quiet, policy })}
        value={quiet.policy}
      />
      {quiet.policy === "wait" && (
        <TextInput
          description={t`After this time the run releases its node and is retried.`}
          error={quietProblem(quiet)}
          label={t`Maximum wait`}
          onChange={(event) => onChange({ ...quiet, wait: event.currentTarget.value })}
          value={quiet.wait}
        />
      )}
    </>
  );
}
