/** Schedule of a plan: submitted once now or repeatedly. Each choice writes the calendar and the window. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Calendar } from "@/api/types";
import { ErrorNotice, Section } from "@/components/Page";
import { formatFiring, WEEKDAYS } from "@/lib/time";
import { calendarQuery } from "../schedules/queries";
import { CalendarFold, type WhenProps } from "./CalendarFold";
import { calendarOf, chooseWhen, PLACES, type Repeat, windowProblem } from "./calendar";

const PREVIEW_DELAY_MILLISECONDS = 400;
/** Width of a time, perhaps with AM or PM, and its picker. */
const TIME_WIDTH = 136;

interface WhenSectionProps extends WhenProps {
  readonly name: string;
  readonly nameProblem: string | undefined;
  readonly onRename: (name: string) => void;
}

export function WhenSection({ draft, onChange, name, nameProblem, onRename }: WhenSectionProps) {
  const { repeat, window } = draft;
  const calendar = calendarOf(repeat, window);
  return (
    <Section title={t`When`}>
      <Stack>
        <Radio.Group
          aria-label={t`When`}
          onChange={(when) => onChange(chooseWhen(repeat, window, when as Repeat["when"]))}
          value={repeat.when}
        >
          <Stack gap="xs">
            <Radio label={t`Now`} value="now" />
            <NightChoice draft={draft} onChange={onChange} />
            <WeekChoice draft={draft} onChange={onChange} />
            <MonthChoice draft={draft} onChange={onChange} />
            {repeat.when === "cron" && <Radio label={t`By the cron expression below`} value="cron" />}
          </Stack>
        </Radio.Group>
        {repeat.when !== "now" && (
          <TextInput
            error={nameProblem}
            label={t`Schedule name`}
            maw={400}
            onChange={(event) => onRename(event.currentTarget.value)}
            value={name}
          />
        )}
        {calendar && <NextFirings calendar={calendar} />}
        <CalendarFold draft={draft} onChange={onChange} />
      </Stack>
    </Section>
  );
}

function Choice({ value, label, children }: { value: string; label: string; children: ReactNode }) {
  return (
    <Group gap="xs">
      <Radio label={label} value={value} />
      {children}
    </Group>
  );
}

function NightChoice({ draft: { repeat, window }, onChange }: WhenProps) {
  const night = chooseWhen(repeat, window, "nightly");
  const change = (hours: Partial<typeof window>) =>
    onChange({ ...night, window: { ...night.window, ...hours } });
  const isChosen = repeat.when === "nightly";
  const shown = isChosen ? window : night.window;
  return (
    <Choice label={t`Every night between`} value="nightly">
      <TimeInput label={t`Night begins`} onChange={(from) => change({ from })} value={shown.from} />
      <Text size="sm">{t`and`}</Text>
      <TimeInput label={t`Night ends`} onChange={(until) => change({ until })} value={shown.until} />
      {isChosen && windowProblem(window) && (
        <Text c="var(--mantine-color-error)" size="xs">
          {windowProblem(window)}
        </Text>
      )}
    </Choice>
  );
}

/** Return what changes an input of a choice, which also chooses it. */
function changerOf({ draft: { repeat, window }, onChange }: WhenProps, when: Repeat["when"]) {
  const chosen = chooseWhen(repeat, window, when);
  return (part: Partial<Repeat>) => onChange({ ...chosen, repeat: { ...chosen.repeat, ...part } });
}

function WeekChoice(props: WhenProps) {
  const { repeat } = props.draft;
  const change = changerOf(props, "weekly");
  return (
    <Choice label={t`Every week on`} value="weekly">
      <NativeSelect
        aria-label={t`Day of the week`}
        data={WEEKDAYS.map(capitalised)}
        onChange={({ currentTarget }) => change({ weekday: currentTarget.value })}
        value={repeat.weekday}
      />
      <Text size="sm">{t`at`}</Text>
      <TimeInput label={t`Weekly start`} onChange={(at) => change({ at })} value={repeat.at} />
    </Choice>
  );
}

function MonthChoice(props: WhenProps) {
  const { repeat } = props.draft;
  const change = changerOf(props, "monthly");
  return (
    <Choice label={t`Monthly on the`} value="monthly">
      <NativeSelect
        aria-label={t`Occurrence in the month`}
        data={[...PLACES]}
        onChange={({ currentTarget }) => change({ place: currentTarget.value })}
        value={repeat.place}
      />
      <NativeSelect
        aria-label={t`Weekday in the month`}
        data={WEEKDAYS.map(capitalised)}
        onChange={({ currentTarget }) => change({ weekday: currentTarget.value })}
        value={repeat.weekday}
      />
      <Text size="sm">{t`at`}</Text>
      <TimeInput label={t`Monthly start`} onChange={(at) => change({ at })} value={repeat.at} />
    </Choice>
  );
}

function capitalised(value: string) {
  return { value, label: value.slice(0, 1).toUpperCase() + value.slice(1) };
}

interface TimeInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (time: string) => void;
}

function TimeInput({ label, value, onChange }: TimeInputProps) {
  return (
    <TextInput
      aria-label={label}
      onChange={(event) => onChange(event.currentTarget.value)}
      type="time"
      value={value}
      w={TIME_WIDTH}
    />
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
