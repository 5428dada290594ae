/** Requests of the session and of API tokens. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/session", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const waysQuery = queryOptions({
  queryKey: ["ways"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/session/ways", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Where the browser goes to log in by the OpenID provider, and to come back to the page. */
export function providerAddress(landing: string): string {
  return `/api/v1/session/provider?${new URLSearchParams({ next: landing })}`;
}

/** Uses up a one-time link. */
export function logInByLink(token: string) {
  return answer(api.POST("/api/v1/session/link", { body: { token } }));
}

export const logIn = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; password: string }) => answer(api.POST("/api/v1/session", { body })),
  onSuccess: (_session, _body, _result, { client }) => client.clear(),
});

export const logOut = mutationOptions({
  mutationFn: () => answer(api.DELETE("/api/v1/session")),
});

export const changePassword = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { old_password: string | null; new_password: string }) =>
    answer(api.PUT("/api/v1/session/password", { body })),
});

export const sessionsQuery = queryOptions({
  queryKey: ["session", "list"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/sessions", { signal }))).items,
});

export const endSession = mutationOptions({
  mutationFn: (sessionId: number) =>
    answer(api.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: sessionId } } })),
  onSuccess: (_done, _id, _result, { client }) => client.invalidateQueries(sessionsQuery),
});

export const endOtherSessions = mutationOptions({
  mutationFn: () => answer(api.DELETE("/api/v1/sessions")),
  onSuccess: (_done, _nothing, _result, { client }) => client.invalidateQueries(sessionsQuery),
});

export type Whose = "mine" | "all";

/** Tokens that were not revoked, those that have expired among them. */
export function tokensQuery(whose: Whose) {
  return queryOptions({
    queryKey: ["token", "list", whose],
    queryFn: ({ signal }) =>
      everyItem((page) =>
        answer(api.GET("/api/v1/tokens", { params: { query: { ...page, whose } }, signal })),
      ),
  });
}

export type Scope = "read" | "operate" | "admin";

export const createToken = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: { name: string; scopes: Scope[]; expires_at: string | null }) =>
    answer(api.POST("/api/v1/tokens", { body })),
  onSuccess: (_token, _body, _result, { client }) => client.invalidateQueries({ queryKey: ["token"] }),
});

export const revokeToken = mutationOptions({
  mutationFn: (tokenId: number) =>
    answer(api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: tokenId } } })),
  onSuccess: (_done, _id, _result, { client }) => client.invalidateQueries({ queryKey: ["token"] }),
});
