/** All runs with search, filters and sorting, below the pinned ones. */

import { t } from "@lingui/core/macro";
import { Group, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import { ExportMenu } from "@/components/ExportMenu";
import { ButtonLink } from "@/components/links";
import { Detail, RowButton } from "@/components/looks";
import { SampleNote } from "@/components/Origin";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { LoggedIn } from "@/components/session";
import { formatCount } from "@/lib/units";
import { runsTable } from "./exports";
import { type Choices, Filters } from "./Filters";
import { PinnedRuns } from "./PinnedRuns";
import { RunGrid } from "./RunGrid";
import { SavedViews } from "./SavedViews";
import { ScalingFold } from "./ScalingFold";
import { useRuns } from "./useRuns";
import { type ExplorerView, hasFilter, sortOf } from "./view";

interface RunsExplorerProps {
  readonly view: ExplorerView;
  readonly onView: (change: ExplorerView) => void;
  readonly choices: Omit<Choices, "flags">;
  /** Search part of the address, as saved in views. */
  readonly query: string;
  readonly onOpen: (query: string, viewId: number | undefined) => void;
}

export function RunsExplorer({ view, onView, choices, query, onOpen }: RunsExplorerProps) {
  const { columns, explored, runs, pinned, count, courses, inSight } = useRuns(view);
  const flags = useMemo(() => [...new Set(runs.flatMap((run) => run.flags))].sort(), [runs]);
  return (
    <Stack gap="md">
      {view.pins && (
        <PinnedRuns columns={columns} courses={courses} onView={onView} pinned={pinned} view={view} />
      )}
      <Section
        actions={
          <>
            <ExportMenu
              name={t`Loaded runs`}
              table={() =>
                runsTable(
                  runs,
                  pinned.data?.find(({ id }) => id === view.baseline),
                )
              }
            />
            <LoggedIn>
              <SavedViews onOpen={onOpen} query={query} viewId={view.view} />
            </LoggedIn>
          </>
        }
        description={describeCount(count, runs.length)}
        title={t`All runs`}
      >
        <Stack gap="sm">
          <Filters choices={{ ...choices, flags }} onView={onView} view={view} />
          <ScalingFold runs={runs} />
          <SampleNote clusterIds={runs.map(({ cluster_id }) => cluster_id)} />
          <Loaded
            empty={<NoRuns isFiltered={hasFilter(view)} />}
            isEmpty={() => runs.length === 0}
            lines={12}
            query={explored}
          >
            {() => (
              <RunGrid
                baseline={pinned.data?.find(({ id }) => id === view.baseline)}
                columns={columns}
                courses={courses}
                inSight={inSight}
                onEnd={explored.loadMore}
                onView={onView}
                runs={runs}
                total={count?.count}
                view={view}
              />
            )}
          </Loaded>
          <Foot explored={explored} sort={sortOf(view)} />
        </Stack>
      </Section>
    </Stack>
  );
}

function describeCount(
  counted: { readonly count: number; readonly is_at_least: boolean } | undefined,
  loaded: number,
): string {
  if (!counted) return "Counting …";
  const count = `${formatCount(counted.count)}${counted.is_at_least ? t` or more` : ""}`;
  return t`${count} ${counted.count === 1 ? "run" : "runs"}, ${formatCount(loaded)} loaded. Scroll to load more.`;
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Text c="dimmed">{t`No runs match. Clear a filter to see more.`}</Text>;
  return (
    <Group>
      <Text c="dimmed">{t`No runs yet. Submit a campaign to see its runs here.`}</Text>
      <LoggedIn>
        <ButtonLink size="xs" to="/campaigns/new">{t`New campaign`}</ButtonLink>
      </LoggedIn>
    </Group>
  );
}

interface FootProps {
  readonly explored: {
    readonly isFetchingNextPage: boolean;
    readonly isFetchNextPageError: boolean;
    readonly isFetching: boolean;
    readonly error: Error | null;
    readonly fetchNextPage: () => unknown;
    readonly refetch: () => unknown;
  };
  readonly sort: string;
}

function Foot({ explored, sort }: FootProps) {
  if (explored.isFetchNextPageError && explored.error && !explored.isFetchingNextPage)
    return <ErrorNotice error={explored.error} onRetry={explored.fetchNextPage} />;
  const isByTime = sort === "newest" || sort === "oldest";
  return (
    <Group gap="sm">
      <RowButton loading={explored.isFetching} onClick={() => explored.refetch()}>{t`Refresh`}</RowButton>
      <Detail aria-live="polite">
        {explored.isFetchingNextPage && t`Loading more runs. `}
        {!isByTime && t`Runs without this value are hidden while the list is sorted by it.`}
      </Detail>
    </Group>
  );
}
