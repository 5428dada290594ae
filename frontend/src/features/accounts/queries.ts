/** Requests of the session and of API tokens. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/session", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

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
