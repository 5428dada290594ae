/** Runs of a campaign, filtered by state; and those that load right now. */

import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Run } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { ShowMore } from "@/components/ShowMore";
import { StateFilter } from "@/components/StateFilter";
import { runsQuery } from "./queries";
import { RunsTable } from "./RunsTable";

type State = Run["state"];
const RUN_STATES: readonly State[] = ["waiting", "active", "finished", "failed", "cancelled"];

interface RunsSectionProps {
  readonly campaignId: number;
  readonly state: State | undefined;
  readonly onState: (state: State | undefined) => void;
}

export function RunsSection({ campaignId, state, onState }: RunsSectionProps) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, state }));
  return (
    <Section actions={<StateFilter onState={onState} state={state} states={RUN_STATES} />} title="Runs">
      <Loaded
        empty={<Text c="dimmed">No run is {state ?? "planned"}.</Text>}
        isEmpty={(rows) => rows.length === 0}
        query={runs}
      >
        {(rows) => (
          <Stack>
            <RunsTable label="Runs" runs={rows} />
            <ShowMore query={runs} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

const MOST_ACTIVE_SHOWN = 8;

/** The runs that load now, the first few of them; nothing where none does. */
export function ActiveRuns({ campaignId }: { campaignId: number }) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, state: "active" }));
  if (!runs.data || runs.data.length === 0) return null;
  const more = runs.data.length - MOST_ACTIVE_SHOWN;
  return (
    <>
      <RunsTable label="Active runs" runs={runs.data.slice(0, MOST_ACTIVE_SHOWN)} />
      {more > 0 && (
        <Text c="dimmed" size="sm">
          {more} more of them are active.
        </Text>
      )}
    </>
  );
}

/** The runs behind one point of a trend. */
export function PointRuns({
  seriesId,
  campaignId,
  cellId,
}: {
  seriesId: number;
  campaignId: number;
  cellId: number;
}) {
  const runs = useInfiniteQuery(runsQuery({ campaignId, seriesId }));
  return (
    <Loaded
      empty={<Text c="dimmed">Its runs are not among the first ones of the campaign.</Text>}
      isEmpty={(rows) => rows.length === 0}
      query={{ ...runs, data: runs.data?.filter((run) => run.cell_id === cellId) }}
    >
      {(rows) => <RunsTable label="Runs of the point" runs={rows} />}
    </Loaded>
  );
}
