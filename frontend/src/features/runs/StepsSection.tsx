/** The executed commands with their resource use. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group, Stack, Text, Title } from "@mantine/core";
import type { RunDetail, StepRecord } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { Command } from "@/components/Command";
import { Hint } from "@/components/looks";
import { Quantity } from "@/components/values";
import { shellCommand } from "@/lib/shell";
import { formatDuration } from "@/lib/units";

function describeNoCommand({ role, outcome }: RunDetail["attempts"][number]["orders"][number]): string {
  if (role === "observe") return t`This node was only monitored. Its counters are under Curves.`;
  return outcome === null ? t`No command has finished yet.` : t`No command was run.`;
}

export function StepsSection({ run }: { run: RunDetail }) {
  const orders = run.attempts.flatMap((attempt) =>
    attempt.orders.map((order) => ({ ...order, attempt: attempt.ordinal, reason: attempt.reason })),
  );
  if (orders.length === 0) return null;
  const start = describeStart(run);
  return (
    <Stack>
      {start && <Hint>{start}</Hint>}
      {orders.map((order) => (
        <Stack gap="xs" key={order.id}>
          <Group gap="xs">
            <Title order={3} size="h6">
              <Trans>
                {order.node_name}
                {order.step_role && ` (${order.step_role})`}, attempt {order.attempt}
              </Trans>
            </Title>
            <StateBadge state={order.outcome ?? order.state} />
            {order.silent_since && <StateBadge state="silent" />}
            {order.reason && order.role === "load" && <Text size="sm">{order.reason}</Text>}
          </Group>
          {order.steps.length === 0 && <Text c="dimmed">{describeNoCommand(order)}</Text>}
          {order.steps.map((step) => (
            <Step key={`${step.name} ${step.started_at}`} step={step} />
          ))}
        </Stack>
      ))}
    </Stack>
  );
}

/** Number of commands, and of those that failed. */
export function commandWords({ attempts }: RunDetail): string {
  const steps = attempts.flatMap(({ orders }) => orders).flatMap((order) => order.steps);
  const failed = steps.filter(({ exit_status }) => exit_status !== 0).length;
  const all = steps.length === 1 ? t`1 command` : t`${steps.length} commands`;
  return failed > 0 ? t`${all}, ${failed} failed` : all;
}

/** Start skew of a gang's nodes in the last attempt in which all started. */
function describeStart({ attempts }: RunDetail): string | undefined {
  const skew = attempts.findLast(({ start_skew_seconds }) => start_skew_seconds !== null)?.start_skew_seconds;
  if (skew === undefined || skew === null) return undefined;
  return t`By the clocks of the nodes, the last node started ${formatDuration(skew)} after the first.`;
}

function Step({ step }: { step: StepRecord }) {
  const waitSeconds = Math.max(0, step.wall_seconds - step.user_seconds - step.system_seconds);
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text fw={600} size="sm">
          {step.name}
        </Text>
        <ExitBadge step={step} />
        <Hint>
          <Trans>
            {formatDuration(step.wall_seconds)}: user {formatDuration(step.user_seconds)}, system{" "}
            {formatDuration(step.system_seconds)}, waiting {formatDuration(waitSeconds)}; memory{" "}
            <Quantity unit="bytes" value={step.max_rss_bytes} />
          </Trans>
        </Hint>
      </Group>
      <Command label={t`Copy the command of ${step.name}`} text={shellCommand(step.argv)} />
    </Stack>
  );
}

function ExitBadge({ step }: { step: StepRecord }) {
  const isGood = step.exit_status === 0;
  return (
    <Badge color={isGood ? "green" : "red"}>
      {step.signal === null ? t`exit ${step.exit_status ?? ""}` : t`signal ${step.signal}`}
    </Badge>
  );
}
