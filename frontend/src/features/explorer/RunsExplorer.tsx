/** Table of all runs with search, sorting, pins and ratios to a baseline. */

import { t } from "@lingui/core/macro";
import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { Sparkline as Course, ExplorerRun, Sparkline } from "@/api/types";
import { ExportMenu } from "@/components/ExportMenu";
import { ButtonLink } from "@/components/links";
import { Detail, Hint, RowButton } from "@/components/looks";
import { SampleNote } from "@/components/Origin";
import { ErrorNotice, Loaded, type Query, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { LoggedIn } from "@/components/session";
import { formatCount } from "@/lib/units";
import { RunCells, useCellContext } from "./cells";
import { runsTable } from "./exports";
import { type Choices, Filters } from "./Filters";
import { countQuery, exploredQuery, PAGE_SIZE, pinnedQuery, sparklinesQuery } from "./queries";
import { ROW_PIXELS, RunGrid, RunName } from "./RunGrid";
import { SavedViews } from "./SavedViews";
import { useRowsInSight } from "./useRowsInSight";
import {
  COLUMNS,
  type ColumnId,
  cellsOf,
  choiceOf,
  columnsOf,
  type ExplorerView,
  hasFilter,
  seriesInSight,
  sortOf,
  togglePin,
} from "./view";

interface RunsExplorerProps {
  readonly view: ExplorerView;
  readonly onView: (change: ExplorerView) => void;
  readonly choices: Omit<Choices, "flags">;
  /** Search part of the address, as saved in views. */
  readonly query: string;
  readonly onOpen: (query: string, viewId: number | undefined) => void;
}

const NO_PINS: readonly number[] = [];
const NO_PAGES: readonly { items: ExplorerRun[] }[] = [];

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

function useRuns(view: ExplorerView) {
  const { pins = NO_PINS } = view;
  const choice = useMemo(() => choiceOf(view), [view]);
  const columns = columnsOf(view);
  const explored = useInfiniteQuery(exploredQuery(choice, sortOf(view)));
  const { data: count } = useQuery(countQuery(choice));
  const pinned = useQuery(pinnedQuery(pins));
  const pages = explored.data?.pages ?? NO_PAGES;
  const runs = useMemo(() => pages.flatMap(({ items }) => items), [pages]);
  const inSight = useRowsInSight(runs.length, ROW_PIXELS);
  const shown = [
    ...seriesInSight(pages, inSight.first, inSight.last, PAGE_SIZE),
    ...seriesInSight([{ items: pinned.data ?? [] }], 0, pins.length, PAGE_SIZE),
  ];
  const courses = useCourses(columns.includes("course") ? shown : []);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = explored;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  return { columns, explored: { ...explored, loadMore }, runs, pinned, count, courses, inSight };
}

/** Load sparklines of visible pages and pinned runs, one request per page. */
function useCourses(seriesByPage: readonly (readonly number[])[]): ReadonlyMap<number, Sparkline> {
  return useQueries({
    queries: seriesByPage.map((seriesIds) => sparklinesQuery(seriesIds)),
    combine: mergeCourses,
  });
}

function mergeCourses(
  answers: readonly { readonly data?: ReadonlyMap<number, Sparkline> | undefined }[],
): ReadonlyMap<number, Sparkline> {
  return new Map(answers.flatMap(({ data }) => (data ? [...data] : [])));
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

interface PinnedRunsProps {
  readonly pinned: Query<ExplorerRun[]>;
  readonly view: ExplorerView;
  readonly columns: readonly ColumnId[];
  readonly courses: ReadonlyMap<number, Course>;
  readonly onView: (change: ExplorerView) => void;
}

function PinnedRuns({ pinned, view, columns, courses, onView }: PinnedRunsProps) {
  const cells = cellsOf(pinned.data ?? [], view.baseline);
  return (
    <Section
      actions={
        <>
          <Button
            onClick={() => onView({ pins: undefined, baseline: undefined })}
            size="xs"
            variant="default"
          >{t`Unpin all`}</Button>
          {cells.length > 1 && (
            <ButtonLink search={{ cells }} size="xs" to="/compare">{t`Compare pinned`}</ButtonLink>
          )}
        </>
      }
      description={describeUse(cells.length)}
      title={t`Pinned runs`}
    >
      <Loaded query={pinned}>
        {(runs) => (
          <PinnedTable columns={columns} courses={courses} onView={onView} runs={runs} view={view} />
        )}
      </Loaded>
    </Section>
  );
}

function describeUse(cells: number): string {
  const hint =
    cells > 1
      ? t`The comparison uses all valid runs of their configurations and gives a verdict.`
      : t`To compare, pin a run of another configuration. Repeats of one configuration form one side.`;
  return t`Ratios compare single runs with the baseline if both have the same setup. ${hint}`;
}

interface PinnedTableProps extends Omit<PinnedRunsProps, "pinned"> {
  readonly runs: readonly ExplorerRun[];
}

function PinnedTable({ runs, view, columns, courses, onView }: PinnedTableProps) {
  const baseline = runs.find(({ id }) => id === view.baseline);
  const context = useCellContext(baseline, courses, columns);
  const titles = columns.map((id) => COLUMNS.find((column) => column.id === id)?.title ?? id);
  return (
    <>
      <ScrollTable
        exported={{ table: () => runsTable(runs, baseline) }}
        head={[t`Run`, t`Baseline`, ...titles]}
        label={t`Pinned runs`}
      >
        {runs.map((run) => (
          <tr key={run.id}>
            <RunName isPinned onPin={(runId) => onView(togglePin(view, runId))} runId={run.id} />
            <td>
              <Radio
                aria-label={t`Run ${run.id} is the baseline`}
                checked={run.id === view.baseline}
                name="baseline"
                onChange={() => onView({ baseline: run.id })}
                size="xs"
              />
            </td>
            <RunCells context={context} run={run} />
          </tr>
        ))}
      </ScrollTable>
      {runs.length < (view.pins?.length ?? 0) && (
        <Group mt="xs">
          <Hint>
            {t`${(view.pins?.length ?? 0) - runs.length} of the pinned runs do not exist, or you have no access to them.`}
          </Hint>
        </Group>
      )}
    </>
  );
}
