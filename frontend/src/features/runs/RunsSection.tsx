/** Runs of a campaign by state, and its active runs. */

import { t } from "@lingui/core/macro";
import { Group, Stack } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { STATES, type State } from "@/api/states";
import type { Run, Sample } from "@/api/types";
import { ChoiceFilter } from "@/components/filters";
import { Detail, Hint } from "@/components/looks";
import { MeasuredValue } from "@/components/MeasuredValue";
import { ErrorNotice, Loaded, Section, ShowMore } from "@/components/Page";
import { Quantity } from "@/components/values";
import { type LiveLine, liveLines, sparkline } from "./live";
import { MeasuredRuns } from "./MeasuredRuns";
import { flagsOfNumber } from "./numberFlags";
import { liveQuery, runsQuery, valuesQuery } from "./queries";
import { RunsTable } from "./RunsTable";

interface RunsSectionProps {
  readonly campaignId: number;
  readonly state: State | undefined;
  readonly onState: (state: State | undefined) => void;
}

export function RunsSection({ campaignId, state, onState }: RunsSectionProps) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, state }));
  return (
    <Section
      actions={
        <ChoiceFilter
          all={t`All states`}
          choices={STATES}
          label={t`State`}
          onChoose={onState}
          value={state}
        />
      }
      title={t`Runs`}
    >
      <Loaded empty={state ? t`No ${state} runs.` : t`No runs yet.`} query={runs}>
        {(rows) => (
          <Stack>
            <MeasuredRuns label={t`Runs`} runs={rows} />
            <ShowMore query={runs} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

const MOST_ACTIVE_SHOWN = 8;

/** The first active runs of `count`; nothing if there are none. */
export function ActiveRuns({ campaignId, count }: { campaignId: number; count: number }) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, state: "active" }));
  if (!runs.data || runs.data.length === 0) return null;
  const more = count - Math.min(MOST_ACTIVE_SHOWN, runs.data.length);
  return (
    <>
      <RunsTable
        label={t`Active runs`}
        runs={runs.data.slice(0, MOST_ACTIVE_SHOWN)}
        value={{ title: t`Throughput`, of: (run) => <LiveThroughput runId={run.id} /> }}
      />
      {more > 0 && <Hint>{t`${more} more runs are active.`}</Hint>}
    </>
  );
}

interface PointRunsProps {
  readonly seriesId: number;
  readonly campaignId: number;
  readonly cellId: number;
}

/** The runs behind a data point, with their values. */
export function PointRuns({ seriesId, campaignId, cellId }: PointRunsProps) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, seriesId }));
  const ofCell = runs.data?.filter((run) => run.cell_id === cellId);
  const runIds = (ofCell ?? []).map(({ id }) => id);
  const values = useQuery({ ...valuesQuery(seriesId, runIds), enabled: runIds.length > 0 });
  const title = values.data?.[0]?.title ?? "Value";
  return (
    <Stack>
      {values.error && <ErrorNotice error={values.error} onRetry={values.refetch} />}
      <Loaded
        empty={
          runs.hasNextPage
            ? t`The runs of this point are not loaded yet.`
            : t`The runs of this point no longer exist.`
        }
        query={{ ...runs, data: ofCell }}
      >
        {(rows) => (
          <RunsTable
            label={t`Runs behind this data point`}
            runs={rows}
            value={{ title, of: (run) => <Values run={run} samples={values.data ?? []} /> }}
          />
        )}
      </Loaded>
      <ShowMore query={runs} />
    </Stack>
  );
}

/** Several values if the run measured the series in several places. */
function Values({ run, samples }: { run: Run; samples: readonly Sample[] }) {
  return samples
    .filter(({ run_id }) => run_id === run.id)
    .map((sample) => (
      <div key={sample.id}>
        <MeasuredValue {...flagsOfNumber(run, sample)} unit={sample.unit} value={sample.value} />
      </div>
    ));
}

const WIDTH = 120;
const HEIGHT = 24;

/** Renders nothing until the first second is known. */
function LiveThroughput({ runId }: { runId: number }) {
  const { data } = useQuery(liveQuery(runId));
  const lines = liveLines(data ?? []);
  return lines.map((line) => <Line key={line.direction} line={line} runId={runId} />);
}

function Line({ line, runId }: { line: LiveLine; runId: number }) {
  const { direction, values, latest } = line;
  const label = t`${direction} throughput of run ${runId} over ${values.length} s`;
  return (
    <Group gap={6} wrap="nowrap">
      <svg aria-label={label} height={HEIGHT} role="img" width={WIDTH}>
        <path
          d={sparkline(values, { width: WIDTH, height: HEIGHT })}
          fill="none"
          stroke="var(--mantine-color-tide-6)"
          strokeWidth={1.5}
        />
      </svg>
      <Detail miw="max-content">
        {direction} <Quantity unit="bytes_per_second" value={latest} />
      </Detail>
    </Group>
  );
}
