/** Typed requests and refetches after mutations. */

import type { MutationFunctionContext, QueryKey } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { paths } from "./schema";

type Method = "get" | "put" | "post" | "patch" | "delete";
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P] extends Record<M, infer Op> ? Op : never;
type Frozen<V> = V extends (infer Item)[] ? readonly Item[] : V;
/** The client omits null and undefined. */
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
/** Optional if no parameters or body are required. */
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

/** Items of a response; of a list, those of the first page. */
export async function getItems<P extends PathOf<"get">>(path: P, ...[wanted]: Rest<Wanted<"get", P>>) {
  return ((await request("get", path, wanted)) as PageOf<ItemOf<P>>).items;
}

export function getEvery<P extends PathOf<"get">>(path: P, ...[wanted]: Rest<Wanted<"get", P>>) {
  return everyItem((page) => {
    const of = { ...wanted, query: { ...(wanted as { query?: object })?.query, ...page } };
    return request("get", path, of) as Promise<PageOf<ItemOf<P>>>;
  });
}

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

/** Items of all loaded pages, for `select`. */
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

/** `delete` is a reserved word. */
export function remove<P extends PathOf<"delete">>(path: P, ...[wanted]: Rest<Wanted<"delete", P>>) {
  return request("delete", path, wanted);
}

/** Arguments of a mutation handler; the context comes last. */
type Handled = [...unknown[], MutationFunctionContext];

/** Mutation handler that refetches the queries of these keys and waits for them. */
export function refetch(...keys: readonly QueryKey[]) {
  return <Ended extends Handled>(...ended: Ended): Promise<unknown> => {
    const { client } = ended.at(-1) as MutationFunctionContext;
    return Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
}

/** Like `refetch`, but does not wait. */
export function refetchLater(...keys: readonly QueryKey[]) {
  return <Ended extends Handled>(...ended: Ended): void => void refetch(...keys)(...ended);
}

/** Lists are paginated; the cursor of the last page is null. */
interface PageOf<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

/** Maximum page size of the server. */
export const LARGEST_PAGE = 500;

/** All items of a short list, up to a limit. */
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
