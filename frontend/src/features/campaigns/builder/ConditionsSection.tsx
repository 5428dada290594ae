/** How often, how long and beside whom: repeats, exclusivity and limits. */

import { t } from "@lingui/core/macro";
import { NumberInput, Select, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Section } from "@/components/Page";
import type { Count } from "./calendar";
import { coolDownProblem, type Draft, timeLimitProblem } from "./draft";
import { type DraftQuiet, POLICIES, quietProblem } from "./quiet";

const EXCLUSIVITY: readonly { value: CampaignPlan["exclusive"]; label: string }[] = [
  { value: "node", label: t`Alone on the node` },
  { value: "node+target", label: t`Alone on the node and on the target` },
  { value: "cluster", label: t`Alone on the cluster` },
  { value: "none", label: t`Beside other runs` },
];

const CACHE: readonly { value: CampaignPlan["cache"]; label: string }[] = [
  { value: "drop", label: t`Drop caches before reads` },
  { value: "remount", label: t`Remount targets before reads` },
  { value: "larger_than_memory", label: t`Data twice as large as memory` },
  { value: "none", label: t`Nothing; reads are flagged` },
];

interface ConditionsSectionProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function ConditionsSection({ draft, onChange }: ConditionsSectionProps) {
  return (
    <Section title={t`How`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <CountInput
          description={t`4 or more say how far results spread. Cells take turns, A B B A, so that a drift of the machine falls on all alike.`}
          label={t`Repeats`}
          max={1000}
          min={1}
          onChange={(repeats) => onChange({ ...draft, repeats })}
          value={draft.repeats}
        />
        <ExclusivitySelect draft={draft} onChange={onChange} />
        <CacheSelect draft={draft} onChange={onChange} />
        <QuietInputs onChange={(quiet) => onChange({ ...draft, quiet })} quiet={draft.quiet} />
        <DurationInputs draft={draft} onChange={onChange} />
        <CountInput
          description={t`After a lost or declined attempt.`}
          label={t`Attempts allowed`}
          max={10}
          min={1}
          onChange={(attemptsAllowed) => onChange({ ...draft, attemptsAllowed })}
          value={draft.attemptsAllowed}
        />
        <CountInput
          description={t`0 to 9; a step counts as an hour of waiting.`}
          label={t`Priority`}
          max={9}
          min={0}
          onChange={(priority) => onChange({ ...draft, priority })}
          value={draft.priority}
        />
        <Textarea
          autosize
          description={t`Why it is run; shown with the results.`}
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
      description={t`Who else may load the same resources.`}
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
      description={t`What keeps reads from the node's memory.`}
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
        description={t`A run that takes longer is ended.`}
        error={timeLimitProblem(draft)}
        label={t`Time limit of a run`}
        onChange={(event) => onChange({ ...draft, timeLimit: event.currentTarget.value })}
        value={draft.timeLimit}
      />
    </>
  );
}

interface CountInputProps {
  readonly label: string;
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly value: Count;
  readonly onChange: (value: Count) => void;
}

function CountInput({ onChange, ...input }: CountInputProps) {
  return (
    <NumberInput
      {...input}
      allowDecimal={false}
      error={input.value === "" && t`Give a number.`}
      onChange={(entered) => onChange(typeof entered === "number" ? entered : "")}
    />
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
          description={t`Then the run gives its node to others and is tried again.`}
          error={quietProblem(quiet)}
          label={t`Wait at most`}
          onChange={(event) => onChange({ ...quiet, wait: event.currentTarget.value })}
          value={quiet.wait}
        />
      )}
    </>
  );
}
