/** Requests by path and method with the types of the API, and what follows a write: reading stale queries again. */

import type { MutationFunctionContext, QueryKey } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { paths } from "./schema";

type Method = "get" | "put" | "post" | "patch" | "delete";
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P] extends Record<M, infer Op> ? Op : never;
type Frozen<V> = V extends (infer Item)[] ? readonly Item[] : V;
/** The client leaves out what is undefined or null. */
type Query<Q> = { [K in keyof Q]: Frozen<Q[K]> | undefined };
type Parameters<All> = {
  [K in keyof All as K extends "path" | "query" | "header" ? K : never]: K extends "query"
    ? Query<All[K]>
    : All[K];
};
type Body<Op> = Op extends { requestBody: { content: { "application/json": infer B } } }
  ? { body: B }
  : object;
type Wanted<M extends Method, P extends keyof paths> =
  Operation<M, P> extends infer Op extends { parameters: object }
    ? Parameters<Op["parameters"]> & Body<Op> & { readonly signal?: AbortSignal }
    : never;
/** The parameters and body may be absent where none is required. */
type Rest<W> = object extends W ? [wanted?: W] : [wanted: W];
type Content<R> = R extends { content: { "application/json": infer Json } } ? Json : undefined;
type Answer<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { responses: infer All } ? Content<All[keyof All]> : never;
type ItemOf<P extends keyof paths> = Answer<"get", P> extends { items: (infer Item)[] } ? Item : never;

function request<M extends Method, P extends PathOf<M>>(method: M, path: P, wanted: object = {}) {
  const { body, signal, ...params } = wanted as { body?: unknown; signal?: AbortSignal };
  const options = { params, ...(body !== undefined && { body }), ...(signal && { signal }) };
  return answer(api.request(method, path as never, options as never)) as Promise<Answer<M, P>>;
}

export function get<P extends PathOf<"get">>(path: P, ...[wanted]: Rest<Wanted<"get", P>>) {
  return request("get", path, wanted);
}

/** The items of an answer, of a list those of its first page. */
export async function getItems<P extends PathOf<"get">>(path: P, ...[wanted]: Rest<Wanted<"get", P>>) {
  return ((await request("get", path, wanted)) as PageOf<ItemOf<P>>).items;
}

/** Every item of a list, page by page. */
export function getEvery<P extends PathOf<"get">>(path: P, ...[wanted]: Rest<Wanted<"get", P>>) {
  return everyItem((page) => {
    const of = { ...wanted, query: { ...(wanted as { query?: object })?.query, ...page } };
    return request("get", path, of) as Promise<PageOf<ItemOf<P>>>;
  });
}

/** Options of an infinite query that reads a list of `limit` items a page. */
export function pages<P extends PathOf<"get">>(path: P, limit: number, ...[wanted]: Rest<Wanted<"get", P>>) {
  return {
    queryFn: ({ pageParam: cursor, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const query = { ...(wanted as { query?: object })?.query, limit, cursor };
      return request("get", path, { ...wanted, query, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: Answer<"get", P>) => (page as PageOf<ItemOf<P>>).next_cursor,
  };
}

/** The items of all pages that are read, for `select`. */
export function itemsOf<Item>({ pages: read }: { readonly pages: readonly { items: Item[] }[] }): Item[] {
  return read.flatMap(({ items }) => items);
}

export function post<P extends PathOf<"post">>(path: P, ...[wanted]: Rest<Wanted<"post", P>>) {
  return request("post", path, wanted);
}

export function put<P extends PathOf<"put">>(path: P, ...[wanted]: Rest<Wanted<"put", P>>) {
  return request("put", path, wanted);
}

export function patch<P extends PathOf<"patch">>(path: P, ...[wanted]: Rest<Wanted<"patch", P>>) {
  return request("patch", path, wanted);
}

/** `delete` is a word of the language. */
export function remove<P extends PathOf<"delete">>(path: P, ...[wanted]: Rest<Wanted<"delete", P>>) {
  return request("delete", path, wanted);
}

/** Arguments of a handler; the context comes last in each. */
type Handled = [...unknown[], MutationFunctionContext];

/** Handler of a mutation that succeeded or settled: read the queries of these keys again, and wait for them. */
export function refetch(...keys: readonly QueryKey[]) {
  return <Ended extends Handled>(...ended: Ended): Promise<unknown> => {
    const { client } = ended.at(-1) as MutationFunctionContext;
    return Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
}

/** As `refetch`, but the mutation is over before the queries are. */
export function refetchLater(...keys: readonly QueryKey[]) {
  return <Ended extends Handled>(...ended: Ended): void => void refetch(...keys)(...ended);
}

/** Lists come page by page; the cursor of the last page is null. */
interface PageOf<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

/** Items that the server puts on a page at most. */
export const LARGEST_PAGE = 500;

/** Every item of a list that is short enough to be shown or searched as a whole; fewer where so many are enough. */
export async function everyItem<Item>(
  load: (query: PageQuery) => Promise<PageOf<Item>>,
  isEnough: (items: readonly Item[]) => boolean = () => false,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: PageOf<Item> = await load({ limit: LARGEST_PAGE, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && !isEnough(items));
  return items;
}
