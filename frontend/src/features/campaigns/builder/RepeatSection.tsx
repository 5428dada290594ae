/** Whether the plan is submitted now and once, or again and again by a calendar, with its next firings. */

import { NumberInput, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Calendar, Schedule } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Section } from "@/components/Page";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { formatFiring } from "@/lib/time";
import { calendarQuery } from "../schedules/queries";
import { calendarOf, offsetProblem, PLACES, type Repeat, WEEKDAYS } from "./calendar";

const PREVIEW_DELAY_MILLISECONDS = 400;

const WHEN = [
  { value: "now", label: "Now" },
  { value: "cron", label: "On a calendar" },
  { value: "monthly", label: "One day a month" },
] as const satisfies readonly { value: Repeat["when"]; label: string }[];

const MISSED = [
  { value: "skip", label: "Left out" },
  { value: "run_once", label: "Made good by one campaign" },
] as const satisfies readonly { value: Schedule["missed"]; label: string }[];

interface RepeatSectionProps {
  readonly repeat: Repeat;
  readonly onChange: (repeat: Repeat) => void;
}

export function RepeatSection({ repeat, onChange }: RepeatSectionProps) {
  const calendar = calendarOf(repeat);
  return (
    <Section description="When the plan becomes a campaign." title="Repeat">
      <Stack>
        <SegmentedControl
          aria-label="Repeat"
          data={[...WHEN]}
          onChange={(chosen) =>
            onChange({ ...repeat, when: WHEN.find(({ value }) => value === chosen)?.value ?? "now" })
          }
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
      </Stack>
    </Section>
  );
}

function DayInputs({ repeat, onChange }: RepeatSectionProps) {
  if (repeat.when === "cron")
    return (
      <TextInput
        description="Minute, hour, day of the month, month, day of the week."
        label="Cron expression"
        onChange={(event) => onChange({ ...repeat, cron: event.currentTarget.value })}
        value={repeat.cron}
      />
    );
  return (
    <>
      <Select
        allowDeselect={false}
        data={[...PLACES]}
        label="Which of the month"
        onChange={(place) => place && onChange({ ...repeat, place })}
        value={repeat.place}
      />
      <Select
        allowDeselect={false}
        data={[...WEEKDAYS]}
        label="Weekday"
        onChange={(weekday) => weekday && onChange({ ...repeat, weekday })}
        value={repeat.weekday}
      />
      <TextInput
        label="At"
        onChange={(event) => onChange({ ...repeat, at: event.currentTarget.value })}
        type="time"
        value={repeat.at}
      />
    </>
  );
}

function LimitInputs({ repeat, onChange }: RepeatSectionProps) {
  return (
    <>
      <TextInput
        description="Each firing comes up to so much later."
        error={offsetProblem(repeat.randomOffset)}
        label="Random offset"
        onChange={(event) => onChange({ ...repeat, randomOffset: event.currentTarget.value })}
        value={repeat.randomOffset}
      />
      <TextInput
        description="By your clock; empty: never."
        label="Ends at"
        onChange={(event) => onChange({ ...repeat, endsAt: event.currentTarget.value })}
        type="datetime-local"
        value={repeat.endsAt}
      />
      <NumberInput
        allowDecimal={false}
        description="Empty: as many as come."
        label="Campaigns at most"
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
        description="What came while the service was down."
        label="Missed firings are"
        onChange={(chosen) =>
          onChange({ ...repeat, missed: MISSED.find(({ value }) => value === chosen)?.value ?? "skip" })
        }
        value={repeat.missed}
      />
    </>
  );
}

/** Asked for once typing pauses; as text, since each render makes the calendar anew. */
function NextFirings({ calendar }: { calendar: Calendar }) {
  const [text] = useDebouncedValue(JSON.stringify(calendar), PREVIEW_DELAY_MILLISECONDS);
  const { data, error, isFetching } = useQuery(calendarQuery(JSON.parse(text) as Calendar));
  if (error) return <ErrorNotice error={error} />;
  return (
    <Stack aria-busy={isFetching} aria-live="polite" gap={4}>
      {data && (
        <>
          <Text size="sm">{data.words}. Next:</Text>
          <ul aria-label="Next firings">
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
