/** All schedules: when each comes next, what came of it last, and what can be done with it. */

import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Schedule } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Loaded } from "@/components/Loaded";
import { ButtonLink, TextLink } from "@/components/links";
import { MadeUpBadge } from "@/components/MadeUp";
import { Page, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { useMay } from "@/components/session";
import { When } from "@/components/When";
import { formatExactTime, formatFiring } from "@/lib/time";
import { removeSchedule, type Step, schedulesQuery, stepSchedule } from "./queries";

export function SchedulesPage() {
  const schedules = useQuery(schedulesQuery);
  return (
    <Page actions={<ButtonLink to="/campaigns/new">New campaign</ButtonLink>} title="Schedules">
      <Section title="All">
        <Loaded empty={<NoSchedule />} isEmpty={(rows) => rows.length === 0} query={schedules}>
          {(rows) => (
            <ScrollTable
              head={["Schedule", "State", "Calendar", "Next", "Last", "Cluster", ""]}
              label="Schedules"
            >
              {rows.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} />
              ))}
            </ScrollTable>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function NoSchedule() {
  return (
    <Text>
      No schedule yet. Build a campaign and choose under “Repeat” to have it submitted on a calendar, for
      instance every night.
    </Text>
  );
}

function ScheduleRow({ schedule }: { schedule: Schedule }) {
  return (
    <tr>
      <td className="iotide-name">
        <TextLink fw={600} search={{ schedule: schedule.id }} to="/campaigns/new">
          {schedule.name}
        </TextLink>
        <Text c="dimmed" size="xs">
          {schedule.owner ?? "of nobody"}
        </Text>
      </td>
      <td>
        <StateBadge state={schedule.state} />
      </td>
      <td className="iotide-wrap">
        {schedule.words}
        <Text c="dimmed" size="xs">
          {schedule.time_zone}
          {schedule.plan.window &&
            `, runs from ${schedule.plan.window.from} to ${schedule.plan.window.until}`}
        </Text>
      </td>
      <td>
        <Next schedule={schedule} />
      </td>
      <td className="iotide-wrap">
        <Last firing={schedule.last_firing} />
      </td>
      <td>
        {schedule.cluster_name} <MadeUpBadge clusterId={schedule.cluster_id} />
      </td>
      <td>
        <Actions schedule={schedule} />
      </td>
    </tr>
  );
}

function Next({ schedule }: { schedule: Schedule }) {
  const [next] = schedule.next_firings;
  if (!next) return "none";
  // By the clocks of its calendar, which stand beside it, and not by the reader's.
  return (
    <time dateTime={next.fires_at} title={formatExactTime(next.fires_at)}>
      {formatFiring(next.fires_at, schedule.time_zone)}
    </time>
  );
}

function Last({ firing }: { firing: Schedule["last_firing"] }) {
  if (!firing) return "none";
  return (
    <Stack gap={0}>
      {firing.campaign_id === null ? (
        <Text c={firing.problem ? "red" : "dimmed"} size="sm">
          {firing.problem ?? "skipped"}
        </Text>
      ) : (
        <TextLink params={{ campaignId: firing.campaign_id }} to="/campaigns/$campaignId">
          Campaign {firing.campaign_id}
        </TextLink>
      )}
      <Text c="dimmed" size="xs">
        <When at={firing.fired_at} />
        {firing.missed > 0 && `, ${firing.missed} missed`}
      </Text>
    </Stack>
  );
}

function Actions({ schedule }: { schedule: Schedule }) {
  const step = useMutation(stepSchedule);
  if (!useMay("operator", schedule.cluster_id)) return null;
  const doStep = (wanted: Step) => () => step.mutate({ scheduleId: schedule.id, step: wanted });
  const common = { disabled: step.isPending, size: "compact-xs", variant: "default" } as const;
  return (
    <Group gap={4} miw={150}>
      {schedule.state === "active" && (
        <Button {...common} aria-label={`Pause ${schedule.name}`} onClick={doStep("pause")}>
          Pause
        </Button>
      )}
      {schedule.state === "paused" && (
        <Button {...common} aria-label={`Resume ${schedule.name}`} onClick={doStep("resume")}>
          Resume
        </Button>
      )}
      <Button {...common} aria-label={`Run ${schedule.name} now`} onClick={doStep("run")}>
        Run now
      </Button>
      <Button {...common} aria-label={`Duplicate ${schedule.name}`} onClick={doStep("duplicate")}>
        Duplicate
      </Button>
      <RemoveButton schedule={schedule} />
    </Group>
  );
}

function RemoveButton({ schedule }: { schedule: Schedule }) {
  const remove = useMutation(removeSchedule);
  return (
    <ConfirmButton
      aria-label={`Delete ${schedule.name}`}
      loading={remove.isPending}
      onConfirm={() => remove.mutate(schedule.id)}
      question={{
        title: `Delete ${schedule.name}?`,
        body: "It submits nothing any more. The campaigns that it made stay, and those that run or wait go on.",
        yes: "Delete the schedule",
        no: "Keep it",
      }}
      size="compact-xs"
    >
      Delete
    </ConfirmButton>
  );
}
