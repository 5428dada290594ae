import { t } from "@lingui/core/macro";
import { Badge, Box, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { Run } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { useNow } from "@/components/clock";
import { codesOf, flagTitle, missingFlags, remarksOf } from "@/components/flagWords";
import { RunLink } from "@/components/links";
import { Detail, Problem } from "@/components/looks";
import { MissingFlags, NoteCount, UsualFlags } from "@/components/MeasuredValue";
import { useDescriber, useTitlesOf } from "@/components/optionTitles";
import { Place } from "@/components/Place";
import { RunProgress } from "@/components/RunProgress";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum, Seconds } from "@/components/values";
import { spread } from "@/lib/exported";
import { describeValues } from "@/lib/options";
import { elapsedSeconds } from "@/lib/time";
import { formatDuration } from "@/lib/units";

interface RunsTableProps {
  readonly runs: readonly Run[];
  readonly label: string;
  /** An additional column for values. */
  readonly value?: { readonly title: string; readonly of: (run: Run) => ReactNode };
}

export function RunsTable({ runs, label, value }: RunsTableProps) {
  const describeRun = useDescriber(runs);
  const head = [
    t`Run`,
    t`State`,
    ...(value ? [value.title] : []),
    t`Node and target`,
    t`Workload`,
    t`Repeat`,
    t`Duration`,
    t`Notes`,
  ];
  return (
    <ScrollTable head={head} label={label}>
      {runs.map((run) => (
        <RunRow describeRun={describeRun} key={run.id} run={run} value={value?.of} />
      ))}
    </ScrollTable>
  );
}

interface RunRowProps {
  readonly run: Run;
  readonly describeRun: (run: Run) => string;
  readonly value: ((run: Run) => ReactNode) | undefined;
}

function RunRow({ run, describeRun, value }: RunRowProps) {
  const full = describeValues(run.options, useTitlesOf()(run.workload, run.cluster_id));
  return (
    <tr>
      <td>
        <RunLink fw={600} id={run.id} />
      </td>
      <td style={{ minWidth: run.state === "active" ? 160 : undefined }}>
        <RunState run={run} />
      </td>
      {value && <td className="iotide-name">{value(run)}</td>}
      <td className="iotide-name">
        <Place of={run} />
      </td>
      <td>
        {run.workload}
        <Detail
          data-export={JSON.stringify(spread("option_", run.options))}
          lineClamp={1}
          maw={280}
          title={full}
        >
          {describeRun(run)}
        </Detail>
      </td>
      <td>{run.repeat}</td>
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
  if (run.state !== "active") {
    const isRejected = run.state === "finished" && run.validity === "rejected";
    return <StateBadge state={isRejected ? "rejected" : run.state} />;
  }
  return (
    <Box>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <StateBadge state={run.overdue ? "overdue" : "active"} />
        <Detail>{run.phase}</Detail>
      </Group>
      <RunProgress phase={run.phase} progress={run.progress} runId={run.id} />
    </Box>
  );
}

function Duration({ run }: { run: Run }) {
  if (run.started_at === null) return null;
  if (run.ended_at === null) return <RunningDuration since={run.started_at} />;
  return <Seconds value={elapsedSeconds(run.started_at, Date.parse(run.ended_at))} />;
}

function RunningDuration({ since }: { since: string }) {
  const seconds = elapsedSeconds(since, useNow(1));
  return (
    <Datum unit="seconds" value={seconds}>
      {formatDuration(Math.round(seconds))}
    </Datum>
  );
}

function Remarks({ run }: { run: Run }) {
  const codes = codesOf(run.flags);
  const rejecting = codesOf(run.flags.filter(({ effect }) => effect === "rejected"));
  const remarks = remarksOf(codes, run.usual_flags, rejecting);
  return (
    <Group gap={4}>
      <span data-export={JSON.stringify({ flags: codes.join(" ") })} style={{ display: "contents" }}>
        {remarks.named.map((code) => (
          <FlagBadge code={code} key={code} run={run} />
        ))}
        <UsualFlags words={remarks.usual} />
        {run.state === "finished" && <MissingFlags codes={missingFlags(codes, run.usual_flags)} />}
        <NoteCount words={remarks.notes} />
      </span>
      {run.reason && <Problem>{run.reason}</Problem>}
    </Group>
  );
}

/** One badge per flag that makes the numbers doubtful, regardless of the number of steps. */
function FlagBadge({ code, run }: { code: string; run: Run }) {
  const flags = run.flags.filter((flag) => flag.code === code);
  const isRejected = flags.some(({ effect }) => effect === "rejected");
  return (
    <Badge
      color={isRejected ? "red" : "orange"}
      miw="max-content"
      title={flags.map(({ measured, limit }) => `${measured} (limit: ${limit})`).join("; ")}
    >
      {flagTitle(code)}
    </Badge>
  );
}
