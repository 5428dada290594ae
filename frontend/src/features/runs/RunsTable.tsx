/** Runs in a table: state, progress, flags and why one failed. */

import { Badge, Box, Group, Progress, Text } from "@mantine/core";
import type { Run } from "@/api/types";
import { TextLink } from "@/components/links";
import { ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { useNow } from "@/components/When";
import { describeValues } from "@/lib/options";
import { elapsedSeconds } from "@/lib/time";
import { formatDuration } from "@/lib/units";

const HEAD = ["Run", "Node", "Target", "Workload", "Repeat", "State", "Duration", "Remarks"];

export function RunsTable({ runs, label }: { runs: readonly Run[]; label: string }) {
  return (
    <ScrollTable head={HEAD} label={label}>
      {runs.map((run) => (
        <RunRow key={run.id} run={run} />
      ))}
    </ScrollTable>
  );
}

function RunRow({ run }: { run: Run }) {
  return (
    <tr>
      <td>
        <TextLink fw={600} params={{ runId: run.id }} to="/runs/$runId">
          {run.id}
        </TextLink>
      </td>
      <td>{run.node_names.join(", ")}</td>
      <td>{run.target_names.join(", ")}</td>
      <td>
        {run.workload}
        <Text c="dimmed" lineClamp={1} maw={280} size="xs" title={describeValues(run.options)}>
          {describeValues(run.options)}
        </Text>
      </td>
      <td>{run.repeat}</td>
      <td style={{ minWidth: 160 }}>
        <RunState run={run} />
      </td>
      <td>
        <Duration run={run} />
      </td>
      <td className="iotide-wrap">
        <Remarks run={run} />
      </td>
    </tr>
  );
}

export function RunState({ run }: { run: Run }) {
  if (run.state !== "active")
    return <StateBadge state={run.validity === "rejected" ? "rejected" : run.state} />;
  return (
    <Box>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <StateBadge state={run.overdue ? "overdue" : "active"} />
        <Text c="dimmed" size="xs">
          {run.phase}
        </Text>
      </Group>
      <Progress
        animated
        aria-label={`Progress of run ${run.id}`}
        mt={4}
        size="sm"
        value={(run.progress ?? 1) * 100}
      />
    </Box>
  );
}

function Duration({ run }: { run: Run }) {
  const seconds = elapsedSeconds(run.started_at, run.ended_at, useNow());
  return (
    <span className="iotide-number">
      {seconds === null ? "" : formatDuration(Math.round(seconds * 10) / 10)}
    </span>
  );
}

function Remarks({ run }: { run: Run }) {
  return (
    <Group gap={4}>
      {run.flags.map(({ code, effect, measured, limit }) => (
        <Badge
          color={effect === "rejected" ? "red" : "orange"}
          key={code}
          title={`measured ${measured}, limit ${limit}`}
          variant="light"
        >
          {code}
        </Badge>
      ))}
      {run.reason && (
        <Text c="var(--mantine-color-error)" size="xs">
          {run.reason}
        </Text>
      )}
    </Group>
  );
}
