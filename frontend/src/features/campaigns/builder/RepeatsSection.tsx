/** Repeats of a plan, and the differences that they show by the scatter of earlier runs. */

import { t } from "@lingui/core/macro";
import { NumberInput, Select, SimpleGrid, Stack, TextInput } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Section } from "@/components/Page";
import { CountInput } from "./CountInput";
import type { Draft } from "./draft";
import {
  type DraftRepeating,
  FEWEST_ADAPTIVE,
  MODES,
  MOST_ADAPTIVE,
  MOST_PERCENT,
  repeatingProblem,
} from "./repeating";
import { ShownDifferences } from "./ShownDifferences";

/** Number of repeats after a change to the mode or from it. */
const USUAL_COUNTS = { together: 4, spread: 4, adaptive: MOST_ADAPTIVE } as const;

interface RepeatsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

interface RepeatsSectionProps extends RepeatsProps {
  /** Undefined until the preview has arrived. */
  readonly power: Preview["power"] | undefined;
}

export function RepeatsSection({ draft, onChange, power }: RepeatsSectionProps) {
  return (
    <Section title={t`Repeats`}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <RepeatsInputs draft={draft} onChange={onChange} />
        </SimpleGrid>
        {power && <ShownDifferences onUse={(repeats) => onChange({ ...draft, repeats })} power={power} />}
      </Stack>
    </Section>
  );
}

function RepeatsInputs({ draft, onChange }: RepeatsProps) {
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
