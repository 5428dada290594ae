/** Advanced inputs of a schedule: cron, time zone, limits, and the hours in which runs may start. */

import { t } from "@lingui/core/macro";
import { NumberInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import type { Schedule } from "@/api/types";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { cronOf, type DraftWindow, NOW, offsetProblem, type Repeat, windowProblem } from "./calendar";
import { Fold } from "./Fold";

export interface WhenProps {
  readonly draft: { readonly repeat: Repeat; readonly window: DraftWindow };
  readonly onChange: (part: { repeat?: Repeat; window?: DraftWindow }) => void;
}

const MISSED = [
  { value: "skip", label: t`Skipped` },
  { value: "run_once", label: t`Run once when the service is back` },
] as const satisfies readonly { value: Schedule["missed"]; label: string }[];

export function CalendarFold({ draft: { repeat, window }, onChange }: WhenProps) {
  const isNight = repeat.when === "nightly";
  const change = (changed: Repeat) =>
    onChange({ repeat: changed, ...(isNight && { window: { ...window, timeZone: changed.timeZone } }) });
  return (
    <Fold differences={differencesOf(repeat, window)} title={t`Advanced`} usual={t`cron, time zone, limits`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          description={t`Minute, hour, day of the month, month, day of the week. Replaces the choice above.`}
          label={t`Cron expression`}
          onChange={({ currentTarget }) =>
            onChange({ repeat: { ...repeat, when: "cron", cron: currentTarget.value } })
          }
          value={cronOf(repeat, window)}
        />
        {repeat.when !== "now" && (
          <>
            <TimeZoneSelect
              onChange={(timeZone) => change({ ...repeat, timeZone })}
              value={repeat.timeZone}
            />
            <LimitInputs onChange={change} repeat={repeat} />
          </>
        )}
        {!isNight && <WindowInputs onChange={(changed) => onChange({ window: changed })} window={window} />}
      </SimpleGrid>
    </Fold>
  );
}

/** Say what is set beyond the choice itself. */
export function differencesOf(repeat: Repeat, window: DraftWindow): string[] {
  const { when, cron, timeZone, randomOffset, endsAt, maxFirings, missed } = repeat;
  const isRepeated = when !== "now";
  const hasWindow = when !== "nightly" && window.from !== "";
  return [
    when === "cron" && t`cron ${cron}`,
    isRepeated && timeZone !== NOW.timeZone && timeZone,
    isRepeated && randomOffset !== NOW.randomOffset && t`random offset ${randomOffset}`,
    isRepeated && endsAt !== "" && t`ends ${endsAt.replace("T", " ")}`,
    isRepeated && maxFirings !== "" && t`at most ${maxFirings} campaigns`,
    isRepeated && missed !== NOW.missed && t`missed firings run once`,
    hasWindow && t`runs from ${window.from} to ${window.until}`,
  ].filter((text) => text !== false);
}

interface LimitInputsProps {
  readonly repeat: Repeat;
  readonly onChange: (repeat: Repeat) => void;
}

function LimitInputs({ repeat, onChange }: LimitInputsProps) {
  return (
    <>
      <TextInput
        description={t`Each start is delayed by a random time up to this value.`}
        error={offsetProblem(repeat.randomOffset)}
        label={t`Random offset`}
        onChange={(event) => onChange({ ...repeat, randomOffset: event.currentTarget.value })}
        value={repeat.randomOffset}
      />
      <TextInput
        description={t`In your display time zone. Empty: never.`}
        label={t`Ends at`}
        onChange={(event) => onChange({ ...repeat, endsAt: event.currentTarget.value })}
        type="datetime-local"
        value={repeat.endsAt}
      />
      <NumberInput
        allowDecimal={false}
        description={t`Empty: no limit.`}
        label={t`Maximum campaigns`}
        max={1_000_000}
        min={1}
        onChange={(entered) =>
          onChange({ ...repeat, maxFirings: typeof entered === "number" ? entered : "" })
        }
        value={repeat.maxFirings}
      />
      <Select
        allowDeselect={false}
        data={[...MISSED]}
        description={t`Firings while the service was down.`}
        label={t`Missed firings`}
        onChange={(missed) => missed && onChange({ ...repeat, missed })}
        value={repeat.missed}
      />
    </>
  );
}

interface WindowInputsProps {
  readonly window: DraftWindow;
  readonly onChange: (window: DraftWindow) => void;
}

function WindowInputs({ window, onChange }: WindowInputsProps) {
  return (
    <>
      <TextInput
        description={t`Runs start only within these hours. Empty: any hour.`}
        error={windowProblem(window)}
        label={t`Runs start from`}
        onChange={(event) => onChange({ ...window, from: event.currentTarget.value })}
        type="time"
        value={window.from}
      />
      <TextInput
        description={t`Runs that could exceed this hour wait for the next window.`}
        label={t`Runs end by`}
        onChange={(event) => onChange({ ...window, until: event.currentTarget.value })}
        type="time"
        value={window.until}
      />
      {(window.from !== "" || window.until !== "") && (
        <TimeZoneSelect onChange={(timeZone) => onChange({ ...window, timeZone })} value={window.timeZone} />
      )}
    </>
  );
}
