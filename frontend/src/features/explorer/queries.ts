/** Requests of the table of runs: pages, their number, courses, and the views that people keep. */

import {
  infiniteQueryOptions,
  keepPreviousData,
  type MutationFunctionContext,
  mutationOptions,
  queryOptions,
} from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { RunSort, SavedViewInput } from "@/api/types";
import type { RunChoice } from "./view";

export const PAGE_SIZE = 200;
const REFRESH_MILLISECONDS = 15_000;
/** A long list that somebody reads stays as it is; asking for all its pages again would take long and move its rows. */
const MOST_REFRESHED_PAGES = 2;

export function exploredQuery(choice: RunChoice, sort: RunSort) {
  return infiniteQueryOptions({
    queryKey: ["run", "explored", choice, sort],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...choice, sort, limit: PAGE_SIZE, cursor: pageParam };
      return answer(api.GET("/api/v1/explorer/runs", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) <= MOST_REFRESHED_PAGES && REFRESH_MILLISECONDS,
  });
}

export function countQuery(choice: RunChoice) {
  return queryOptions({
    queryKey: ["run", "counted", choice],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/explorer/count", { params: { query: { ...choice } }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** The runs that are pinned, in the order in which they were. */
export function pinnedQuery(ids: readonly number[]) {
  return queryOptions({
    queryKey: ["run", "list", "pinned", ids],
    queryFn: async ({ signal }) => {
      const params = { query: { id: [...ids], limit: ids.length } };
      const { items } = await answer(api.GET("/api/v1/explorer/runs", { params, signal }));
      return items.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** The newest points of all these series in one request. */
export function sparklinesQuery(seriesIds: readonly number[]) {
  return queryOptions({
    queryKey: ["cell", "sparklines", seriesIds],
    queryFn: async ({ signal }) => {
      const params = { query: { series_id: [...seriesIds] } };
      const { items } = await answer(api.GET("/api/v1/explorer/sparklines", { params, signal }));
      return new Map(items.map((line) => [line.series_id, line]));
    },
    enabled: seriesIds.length > 0,
  });
}

export const viewsQuery = queryOptions({
  queryKey: ["saved_view", "list"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/explorer/views", { signal }))).items,
});

export const keepView = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: SavedViewInput) => answer(api.POST("/api/v1/explorer/views", { body })),
  onSuccess: refreshViews,
});

export const changeView = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ id, ...body }: SavedViewInput & { readonly id: number }) =>
    answer(api.PUT("/api/v1/explorer/views/{view_id}", { params: { path: { view_id: id } }, body })),
  onSuccess: refreshViews,
});

export const removeView = mutationOptions({
  mutationFn: (id: number) =>
    answer(api.DELETE("/api/v1/explorer/views/{view_id}", { params: { path: { view_id: id } } })),
  onSuccess: refreshViews,
});

function refreshViews(_answer: unknown, _body: unknown, _result: unknown, context: MutationFunctionContext) {
  return context.client.invalidateQueries({ queryKey: ["saved_view"] });
}
