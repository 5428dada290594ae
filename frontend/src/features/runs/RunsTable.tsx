/** Runs in a table: state, progress, flags and why one failed. */

import { Badge, Box, Group, Progress, Text } from "@mantine/core";
import type { Run } from "@/api/types";
import { useNow } from "@/components/clock";
import { TextLink } from "@/components/links";
import { ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { describeAmong, describeValues } from "@/lib/options";
import { elapsedSeconds } from "@/lib/time";
import { formatDuration } from "@/lib/units";

const HEAD = ["Run", "Node", "Target", "Workload", "Repeat", "State", "Duration", "Remarks"];

export function RunsTable({ runs, label }: { runs: readonly Run[]; label: string }) {
  return (
    <ScrollTable head={HEAD} label={label}>
      {runs.map((run) => (
        <RunRow key={run.id} run={run} runs={runs} />
      ))}
    </ScrollTable>
  );
}

function RunRow({ run, runs }: { run: Run; runs: readonly Run[] }) {
  const alike = runs.filter(({ workload }) => workload === run.workload).map(({ options }) => options);
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
          {describeAmong(run.options, alike)}
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
  if (run.started_at === null) return null;
  if (run.ended_at === null) return <RunningDuration since={run.started_at} />;
  const seconds = elapsedSeconds(run.started_at, Date.parse(run.ended_at));
  return <span className="iotide-number">{formatDuration(Math.round(seconds * 10) / 10)}</span>;
}

function RunningDuration({ since }: { since: string }) {
  const seconds = elapsedSeconds(since, useNow(1));
  return <span className="iotide-number">{formatDuration(Math.round(seconds))}</span>;
}

function Remarks({ run }: { run: Run }) {
  return (
    <Group gap={4}>
      {[...new Set(run.flags.map(({ code }) => code))].map((code) => (
        <FlagBadge code={code} key={code} run={run} />
      ))}
      {run.reason && (
        <Text c="var(--mantine-color-error)" size="xs">
          {run.reason}
        </Text>
      )}
    </Group>
  );
}

/** One badge a code, however many steps it was found in. */
function FlagBadge({ code, run }: { code: string; run: Run }) {
  const flags = run.flags.filter((flag) => flag.code === code);
  const isRejected = flags.some(({ effect }) => effect === "rejected");
  return (
    <Badge
      color={isRejected ? "red" : "orange"}
      miw="max-content"
      title={flags.map(({ measured, limit }) => `${measured} (limit: ${limit})`).join("; ")}
      variant="light"
    >
      {code}
    </Badge>
  );
}
