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

/** Address that starts a sign-in at the OpenID provider and returns to the page. */
export function providerAddress(landing: string): string {
  return `/api/v1/session/provider?${new URLSearchParams({ next: landing })}`;
}

/** Consumes a one-time link. */
export function logInByLink(token: string) {
  return post("/api/v1/session/link", { body: { token } });
}

export const logIn = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; password: string }) => post("/api/v1/session", { body }),
  onSuccess: (_session, _body, _result, { client }) => client.clear(),
});

export const logOut = mutationOptions({
  mutationFn: () => remove("/api/v1/session"),
  // Reload, so that nothing of the ended session stays in memory. Users of the OpenID provider must sign out there, too.
  onSuccess: ({ provider_url }) => location.assign(provider_url ?? "/login"),
});

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

type TokenOwner = "mine" | "all";

/** Tokens that are not revoked, including expired ones. */
export function tokensQuery(owner: TokenOwner) {
  return queryOptions({
    queryKey: ["token", "list", owner],
    queryFn: ({ signal }) => getEvery("/api/v1/tokens", { query: { whose: owner }, signal }),
  });
}

export type Scope = "read" | "operate" | "admin";

export const createToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; scopes: Scope[]; expires_at: string | null }) =>
    post("/api/v1/tokens", { body }),
  onSuccess: refetch(["token"]),
});

export interface CommandLogin {
  readonly name: string;
  /** SHA-256 of the token that the command keeps. */
  readonly secret_sha256: string;
  readonly asked_at: string;
}

export const confirmLogin = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: CommandLogin & { scopes: Scope[] }) => post("/api/v1/tokens/login", { body }),
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

/** Disabling a user revokes tokens and pauses schedules. */
const refetchPeople = refetch(["user"], ["token"], ["schedule"]);

export const createUser = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: UserInput) => post("/api/v1/users", { body }),
  onSuccess: refetchPeople,
});

/** For buttons in lists: an error is shown as a notification. */
export const setDisabled = mutationOptions({
  mutationFn: ({ userId, body }: { userId: number; body: UserChange }) =>
    put("/api/v1/users/{user_id}", { path: { user_id: userId }, body }),
  onSuccess: refetchPeople,
});

/** For dialogs, which show errors themselves. */
export const changeRoles = mutationOptions({ ...setDisabled, meta: { isShownInPlace: true } });

/** The link is shown only once. */
export const makeLink = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (userId: number) => post("/api/v1/users/{user_id}/link", { path: { user_id: userId } }),
});
