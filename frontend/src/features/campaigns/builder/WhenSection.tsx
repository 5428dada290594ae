/** Schedule of a plan: submitted once now or repeatedly, with hours in which runs may start. */

import { t } from "@lingui/core/macro";
import { NumberInput, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Calendar, Schedule } from "@/api/types";
import { ErrorNotice, Section } from "@/components/Page";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { formatFiring, WEEKDAYS } from "@/lib/time";
import { calendarQuery } from "../schedules/queries";
import { calendarOf, type DraftWindow, offsetProblem, PLACES, type Repeat, windowProblem } from "./calendar";
import type { Draft } from "./draft";

const PREVIEW_DELAY_MILLISECONDS = 400;

const WHEN = [
  { value: "now", label: t`Now` },
  { value: "cron", label: t`Cron schedule` },
  { value: "monthly", label: t`Monthly` },
] as const satisfies readonly { value: Repeat["when"]; label: string }[];

const MISSED = [
  { value: "skip", label: t`Skipped` },
  { value: "run_once", label: t`Run once when the service is back` },
] as const satisfies readonly { value: Schedule["missed"]; label: string }[];

interface WhenSectionProps {
  readonly draft: Pick<Draft, "repeat" | "window">;
  readonly onChange: (part: Partial<Pick<Draft, "repeat" | "window">>) => void;
}

export function WhenSection({ draft: { repeat, window }, onChange }: WhenSectionProps) {
  return (
    <Section
      description={t`When the campaign is submitted, and the hours in which its runs may start.`}
      title={t`Schedule`}
    >
      <Stack>
        <RepeatInputs onChange={(changed) => onChange({ repeat: changed })} repeat={repeat} />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <WindowInputs onChange={(changed) => onChange({ window: changed })} window={window} />
        </SimpleGrid>
      </Stack>
    </Section>
  );
}

interface RepeatInputsProps {
  readonly repeat: Repeat;
  readonly onChange: (repeat: Repeat) => void;
}

function RepeatInputs({ repeat, onChange }: RepeatInputsProps) {
  const calendar = calendarOf(repeat);
  return (
    <>
      <SegmentedControl
        aria-label={t`Repeat`}
        data={[...WHEN]}
        onChange={(when) => onChange({ ...repeat, when })}
        value={repeat.when}
        w="fit-content"
      />
      {repeat.when !== "now" && (
        <>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <DayInputs onChange={onChange} repeat={repeat} />
            <TimeZoneSelect
              onChange={(timeZone) => onChange({ ...repeat, timeZone })}
              value={repeat.timeZone}
            />
            <LimitInputs onChange={onChange} repeat={repeat} />
          </SimpleGrid>
          {calendar && <NextFirings calendar={calendar} />}
        </>
      )}
    </>
  );
}

function DayInputs({ repeat, onChange }: RepeatInputsProps) {
  if (repeat.when === "cron")
    return (
      <TextInput
        description={t`Minute, hour, day of the month, month, day of the week.`}
        label={t`Cron expression`}
        onChange={(event) => onChange({ ...repeat, cron: event.currentTarget.value })}
        value={repeat.cron}
      />
    );
  return (
    <>
      <Select
        allowDeselect={false}
        data={[...PLACES]}
        label={t`Occurrence in the month`}
        onChange={(place) => place && onChange({ ...repeat, place })}
        value={repeat.place}
      />
      <Select
        allowDeselect={false}
        data={[...WEEKDAYS]}
        label={t`Weekday`}
        onChange={(weekday) => weekday && onChange({ ...repeat, weekday })}
        value={repeat.weekday}
      />
      <TextInput
        label={t`Time`}
        onChange={(event) => onChange({ ...repeat, at: event.currentTarget.value })}
        type="time"
        value={repeat.at}
      />
    </>
  );
}

function LimitInputs({ repeat, onChange }: RepeatInputsProps) {
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

/** Requested once typing pauses. Compares calendars as text, since each render creates a new object. */
function NextFirings({ calendar }: { calendar: Calendar }) {
  const [text] = useDebouncedValue(JSON.stringify(calendar), PREVIEW_DELAY_MILLISECONDS);
  const { data, error, isFetching } = useQuery(calendarQuery(JSON.parse(text) as Calendar));
  if (error) return <ErrorNotice error={error} />;
  return (
    <Stack aria-busy={isFetching} aria-live="polite" gap={4}>
      {data && (
        <>
          <Text size="sm">{t`${data.words}. Next:`}</Text>
          <ul aria-label={t`Next firings`}>
            {data.firings.map((at) => (
              <li key={at}>
                <Text component="time" dateTime={at} size="sm">
                  {formatFiring(at, calendar.time_zone)}
                </Text>
              </li>
            ))}
          </ul>
        </>
      )}
    </Stack>
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
