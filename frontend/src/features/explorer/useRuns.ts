/** Runs of the table, with their number, the pinned runs and sparklines. */

import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { ExplorerRun, Sparkline } from "@/api/types";
import { countQuery, exploredQuery, PAGE_SIZE, pinnedQuery, sparklinesQuery } from "./queries";
import { ROW_PIXELS } from "./RunGrid";
import { useRowsInSight } from "./useRowsInSight";
import { choiceOf, columnsOf, type ExplorerView, seriesInSight, sortOf } from "./view";

const NO_PINS: readonly number[] = [];
const NO_PAGES: readonly { items: ExplorerRun[] }[] = [];

export function useRuns(view: ExplorerView) {
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
