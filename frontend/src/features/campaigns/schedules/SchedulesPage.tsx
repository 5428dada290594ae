import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ListedSchedule } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { ConfirmMutation } from "@/components/buttons";
import { ButtonLink, CampaignLink, TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { RowOriginBadge, SampleNote } from "@/components/Origin";
import { Loaded, Page, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { LoggedIn, useIsLoggedIn, useMay } from "@/components/session";
import { When } from "@/components/values";
import { formatExactTime, formatFiring } from "@/lib/time";
import { removeSchedule, type Step, schedulesQuery, stepSchedule } from "./queries";

export function SchedulesPage() {
  const schedules = useQuery(schedulesQuery);
  return (
    <Page
      actions={
        <LoggedIn>
          <ButtonLink search={{ repeat: "nightly" }} to="/campaigns/new">{t`New schedule`}</ButtonLink>
        </LoggedIn>
      }
      title={t`Schedules`}
    >
      <Section title={t`All`}>
        <Loaded empty={<NoSchedule />} query={schedules}>
          {(rows) => (
            <Stack gap="xs">
              <SampleNote clusterIds={rows.map(({ cluster_id }) => cluster_id)} />
              <ScrollTable
                head={[t`Schedule`, t`State`, t`Last firing`, t`Next firing`, t`Calendar`, t`Cluster`, ""]}
                label={t`Schedules`}
              >
                {rows.map((schedule) => (
                  <ScheduleRow key={schedule.id} schedule={schedule} />
                ))}
              </ScrollTable>
            </Stack>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function NoSchedule() {
  return (
    <Text>
      <Trans>
        No schedules yet. To submit a campaign regularly, for example every night, set its schedule in the
        campaign builder.
      </Trans>
    </Text>
  );
}

function ScheduleRow({ schedule }: { schedule: ListedSchedule }) {
  const isLoggedIn = useIsLoggedIn();
  return (
    <Row>
      <td className="iotide-name">
        {isLoggedIn ? (
          <TextLink fw={600} search={{ schedule: schedule.id }} to="/campaigns/new">
            {schedule.name}
          </TextLink>
        ) : (
          <Text fw={600}>{schedule.name}</Text>
        )}
        <Detail>{schedule.owner}</Detail>
      </td>
      <StateBadge state={schedule.state} />
      <td className="iotide-wrap">
        <Last firing={schedule.last_firing} />
      </td>
      <td className="iotide-name">
        <Next schedule={schedule} />
      </td>
      <td className="iotide-wrap">
        {schedule.words}
        <Detail>
          {schedule.time_zone}
          {schedule.plan?.window &&
            t`, runs from ${schedule.plan.window.from} to ${schedule.plan.window.until}`}
        </Detail>
      </td>
      <td>
        {schedule.cluster_name} <RowOriginBadge clusterId={schedule.cluster_id} />
      </td>
      <Actions schedule={schedule} />
    </Row>
  );
}

function Next({ schedule }: { schedule: ListedSchedule }) {
  const [next] = schedule.next_firings;
  if (!next) return "none";
  // In the time zone of its calendar, which the row shows, not in the user's.
  return (
    <time dateTime={next.fires_at} title={formatExactTime(next.fires_at)}>
      {formatFiring(next.fires_at, schedule.time_zone)}
    </time>
  );
}

function Last({ firing }: { firing: ListedSchedule["last_firing"] }) {
  if (!firing) return "none";
  return (
    <Stack gap={0}>
      {firing.campaign_id === null ? (
        <Text c={firing.outcome === "failed" ? "red" : "dimmed"} size="sm">
          {firing.problem ?? t`skipped`}
        </Text>
      ) : (
        <CampaignLink id={firing.campaign_id} name={t`Campaign ${firing.campaign_id}`} />
      )}
      <Detail>
        <When at={firing.fired_at} />
        {firing.missed > 0 && t`, ${firing.missed} missed`}
      </Detail>
    </Stack>
  );
}

function Actions({ schedule }: { schedule: ListedSchedule }) {
  const step = useMutation(stepSchedule);
  if (!useMay("operator", schedule.cluster_id)) return null;
  const doStep = (wanted: Step) => () => step.mutate({ scheduleId: schedule.id, step: wanted });
  const common = { disabled: step.isPending, size: "compact-xs", variant: "default" } as const;
  return (
    <Group gap={4} miw={150}>
      {schedule.state === "active" && (
        <Button
          {...common}
          aria-label={t`Pause ${schedule.name}`}
          onClick={doStep("pause")}
        >{t`Pause`}</Button>
      )}
      {schedule.state === "paused" && (
        <Button
          {...common}
          aria-label={t`Resume ${schedule.name}`}
          onClick={doStep("resume")}
        >{t`Resume`}</Button>
      )}
      <Button
        {...common}
        aria-label={t`Run ${schedule.name} now`}
        onClick={doStep("run")}
      >{t`Run now`}</Button>
      <Button
        {...common}
        aria-label={t`Duplicate ${schedule.name}`}
        onClick={doStep("duplicate")}
      >{t`Duplicate`}</Button>
      <RemoveButton schedule={schedule} />
    </Group>
  );
}

function RemoveButton({ schedule }: { schedule: ListedSchedule }) {
  return (
    <ConfirmMutation
      aria-label={t`Delete ${schedule.name}`}
      title={t`Delete ${schedule.name}?`}
      body={t`The schedule submits no further campaigns. Existing campaigns are kept, and active ones continue.`}
      yes={t`Delete schedule`}
      size="compact-xs"
      mutation={removeSchedule}
      variables={schedule.id}
    >{t`Delete`}</ConfirmMutation>
  );
}
