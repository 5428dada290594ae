import { t } from "@lingui/core/macro";
import { NumberInput, Select, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Section } from "@/components/Page";
import type { Count } from "./calendar";
import { coolDownProblem, type Draft, timeLimitProblem } from "./draft";
import { type DraftQuiet, POLICIES, quietProblem } from "./quiet";
import {
  type DraftRepeating,
  FEWEST_ADAPTIVE,
  MODES,
  MOST_ADAPTIVE,
  MOST_PERCENT,
  repeatingProblem,
} from "./repeating";

const EXCLUSIVITY: readonly { value: CampaignPlan["exclusive"]; label: string }[] = [
  { value: "node", label: t`Exclusive node` },
  { value: "node+target", label: t`Exclusive node and target` },
  { value: "cluster", label: t`Exclusive cluster` },
  { value: "none", label: t`Shared with other runs` },
];

const CACHE: readonly { value: CampaignPlan["cache"]; label: string }[] = [
  { value: "drop", label: t`Drop caches before reads` },
  { value: "remount", label: t`Remount targets before reads` },
  { value: "larger_than_memory", label: t`Data twice as large as memory` },
  { value: "none", label: t`None (reads are flagged)` },
];

/** Number of repeats after a change to the mode or from it. */
const USUAL_COUNTS = { together: 4, spread: 4, adaptive: MOST_ADAPTIVE } as const;

interface ConditionsSectionProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

export function ConditionsSection({ draft, onChange }: ConditionsSectionProps) {
  return (
    <Section title={t`Conditions`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <RepeatsInputs draft={draft} onChange={onChange} />
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

function RepeatsInputs({ draft, onChange }: ConditionsSectionProps) {
  const { repeats, repeating } = draft;
  const isAdaptive = repeating.mode === "adaptive";
  const changeMode = (mode: DraftRepeating["mode"]) =>
    onChange({
      ...draft,
      repeats: isAdaptive === (mode === "adaptive") ? repeats : USUAL_COUNTS[mode],
      repeating: { ...repeating, mode },
    });
  return (
    <>
      <CountInput
        description={
          isAdaptive
            ? t`Largest number of runs of a configuration, 8 to 40.`
            : t`Use 4 or more for intervals.`
        }
        label={isAdaptive ? t`Maximum repeats` : t`Repeats`}
        max={isAdaptive ? MOST_ADAPTIVE : 1000}
        min={isAdaptive ? FEWEST_ADAPTIVE : 1}
        onChange={(count) => onChange({ ...draft, repeats: count })}
        value={repeats}
      />
      <Select
        allowDeselect={false}
        data={MODES.map(({ value, label }) => ({ value, label }))}
        description={MODES.find(({ value }) => value === repeating.mode)?.does}
        label={t`Repeat mode`}
        onChange={(mode) => mode && changeMode(mode)}
        value={repeating.mode}
      />
      <RepeatingInputs
        onChange={(changed) => onChange({ ...draft, repeating: { ...repeating, ...changed } })}
        repeating={repeating}
      />
    </>
  );
}

interface RepeatingInputsProps {
  readonly repeating: DraftRepeating;
  readonly onChange: (changed: Partial<DraftRepeating>) => void;
}

function RepeatingInputs({ repeating, onChange }: RepeatingInputsProps) {
  if (repeating.mode === "together") return null;
  if (repeating.mode === "spread")
    return (
      <TextInput
        description={t`Three repeats over 3 d are one a day.`}
        error={repeatingProblem(repeating)}
        label={t`Spread over`}
        onChange={(event) => onChange({ spread: event.currentTarget.value })}
        value={repeating.spread}
      />
    );
  return (
    <>
      <NumberInput
        description={t`Half of the interval's width, relative to the median. Choose your usual scatter: less is seldom reached.`}
        error={repeating.untilPercent === "" && t`Enter a number.`}
        label={t`Wanted width (±)`}
        max={MOST_PERCENT}
        min={0.1}
        onChange={(entered) => onChange({ untilPercent: typeof entered === "number" ? entered : "" })}
        suffix=" %"
        value={repeating.untilPercent}
      />
      <TextInput
        description={t`No run starts later than this after the first one. Leave it empty for no limit.`}
        error={repeatingProblem(repeating)}
        label={t`Time budget`}
        onChange={(event) => onChange({ budget: event.currentTarget.value })}
        value={repeating.budget}
      />
    </>
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
      error={input.value === "" && t`Enter a number.`}
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
