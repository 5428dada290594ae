/** Requests of the session, of API tokens, of the audit, and of people. */

import { infiniteQueryOptions, keepPreviousData, mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, getItems, itemsOf, pages, post, put, refetch, remove } from "@/api/requests";
import type { UserChange, UserInput } from "@/api/types";
import { type AuditView, asked } from "./audit";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => get("/api/v1/session", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

export const waysQuery = queryOptions({
  queryKey: ["ways"],
  queryFn: ({ signal }) => get("/api/v1/session/ways", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Where the browser goes to log in by the OpenID provider, and to come back to the page. */
export function providerAddress(landing: string): string {
  return `/api/v1/session/provider?${new URLSearchParams({ next: landing })}`;
}

/** Uses up a one-time link. */
export function logInByLink(token: string) {
  return post("/api/v1/session/link", { body: { token } });
}

export const logIn = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; password: string }) => post("/api/v1/session", { body }),
  onSuccess: (_session, _body, _result, { client }) => client.clear(),
});

export const logOut = mutationOptions({ mutationFn: () => remove("/api/v1/session") });

export const changePassword = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { old_password: string | null; new_password: string }) =>
    put("/api/v1/session/password", { body }),
});

export const sessionsQuery = queryOptions({
  queryKey: ["session", "list"],
  queryFn: ({ signal }) => getItems("/api/v1/sessions", { signal }),
});

export const endSession = mutationOptions({
  mutationFn: (sessionId: number) =>
    remove("/api/v1/sessions/{session_id}", { path: { session_id: sessionId } }),
  onSuccess: refetch(sessionsQuery.queryKey),
});

export const endOtherSessions = mutationOptions({
  mutationFn: () => remove("/api/v1/sessions"),
  onSuccess: refetch(sessionsQuery.queryKey),
});

type Whose = "mine" | "all";

/** Tokens that were not revoked, those that have expired among them. */
export function tokensQuery(whose: Whose) {
  return queryOptions({
    queryKey: ["token", "list", whose],
    queryFn: ({ signal }) => getEvery("/api/v1/tokens", { query: { whose }, signal }),
  });
}

export type Scope = "read" | "operate" | "admin";

export const createToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; scopes: Scope[]; expires_at: string | null }) =>
    post("/api/v1/tokens", { body }),
  onSuccess: refetch(["token"]),
});

export const revokeToken = mutationOptions({
  mutationFn: (tokenId: number) => remove("/api/v1/tokens/{token_id}", { path: { token_id: tokenId } }),
  onSuccess: refetch(["token"]),
});

const PAGE_SIZE = 100;

export function auditQuery(view: AuditView) {
  const query = asked(view);
  return infiniteQueryOptions({
    queryKey: ["audit", "list", query],
    ...pages("/api/v1/audit", PAGE_SIZE, { query }),
    select: itemsOf,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
}

export const usersQuery = queryOptions({
  queryKey: ["user", "list"],
  queryFn: async ({ signal }) =>
    (await getEvery("/api/v1/users", { signal })).sort((a, b) => a.name.localeCompare(b.name)),
});

/** Who is disabled loses tokens, and schedules of theirs pause. */
const refetchPeople = refetch(["user"], ["token"], ["schedule"]);

export const createUser = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: UserInput) => post("/api/v1/users", { body }),
  onSuccess: refetchPeople,
});

/** From a button in a list: a refusal is shown as a notice. */
export const setDisabled = mutationOptions({
  mutationFn: ({ userId, body }: { userId: number; body: UserChange }) =>
    put("/api/v1/users/{user_id}", { path: { user_id: userId }, body }),
  onSuccess: refetchPeople,
});

/** From a window, which shows a refusal itself. */
export const changeRoles = mutationOptions({ ...setDisabled, meta: { isShownInPlace: true } });

/** A URL that is shown this once. */
export const makeLink = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (userId: number) => post("/api/v1/users/{user_id}/link", { path: { user_id: userId } }),
});
