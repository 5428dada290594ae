import { infiniteQueryOptions, keepPreviousData, mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getItems, pages, post, put, refetch, remove } from "@/api/requests";
import type { RunSort, SavedViewInput } from "@/api/types";
import type { RunChoice } from "./view";

export const PAGE_SIZE = 200;
const REFRESH_MILLISECONDS = 15_000;
/** Do not refetch a long list while it is read: that takes long and moves its rows. */
const MOST_REFRESHED_PAGES = 2;

export function exploredQuery(choice: RunChoice, sort: RunSort) {
  return infiniteQueryOptions({
    queryKey: ["run", "explored", choice, sort],
    ...pages("/api/v1/explorer/runs", PAGE_SIZE, { query: { ...choice, sort } }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) <= MOST_REFRESHED_PAGES && REFRESH_MILLISECONDS,
  });
}

export function countQuery(choice: RunChoice) {
  return queryOptions({
    queryKey: ["run", "counted", choice],
    queryFn: ({ signal }) => get("/api/v1/explorer/count", { query: choice, signal }),
    placeholderData: keepPreviousData,
  });
}

/** The pinned runs in the order of pinning. */
export function pinnedQuery(ids: readonly number[]) {
  return queryOptions({
    queryKey: ["run", "list", "pinned", ids],
    queryFn: async ({ signal }) =>
      (await getItems("/api/v1/explorer/runs", { query: { id: ids, limit: ids.length }, signal })).sort(
        (a, b) => ids.indexOf(a.id) - ids.indexOf(b.id),
      ),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
}

export function sparklinesQuery(seriesIds: readonly number[]) {
  return queryOptions({
    queryKey: ["cell", "sparklines", seriesIds],
    queryFn: async ({ signal }) =>
      new Map(
        (await getItems("/api/v1/explorer/sparklines", { query: { series_id: seriesIds }, signal })).map(
          (line) => [line.series_id, line],
        ),
      ),
    enabled: seriesIds.length > 0,
  });
}

export const viewsQuery = queryOptions({
  queryKey: ["saved_view", "list"],
  queryFn: ({ signal }) => getItems("/api/v1/explorer/views", { signal }),
});

export const keepView = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: SavedViewInput) => post("/api/v1/explorer/views", { body }),
  onSuccess: refetch(["saved_view"]),
});

export const changeView = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ id, ...body }: SavedViewInput & { readonly id: number }) =>
    put("/api/v1/explorer/views/{view_id}", { path: { view_id: id }, body }),
  onSuccess: refetch(["saved_view"]),
});

export const removeView = mutationOptions({
  mutationFn: (id: number) => remove("/api/v1/explorer/views/{view_id}", { path: { view_id: id } }),
  onSuccess: refetch(["saved_view"]),
});

/** Names that contain the text. */
export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ["search", text],
    queryFn: ({ signal }) => get("/api/v1/explorer/search", { query: { text }, signal }),
  });
}
