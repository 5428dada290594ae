/** Requests of the people that administrators add, change and let in. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { UserChange, UserInput } from "@/api/types";

export const usersQuery = queryOptions({
  queryKey: ["user", "list"],
  queryFn: async ({ signal }) => {
    const users = await everyItem((page) =>
      answer(api.GET("/api/v1/users", { params: { query: page }, signal })),
    );
    return users.sort((a, b) => a.name.localeCompare(b.name));
  },
});

/** Who is disabled loses tokens, and schedules of theirs pause. */
function refetch(client: QueryClient): Promise<unknown> {
  return Promise.all(
    ["user", "token", "schedule"].map((kind) => client.invalidateQueries({ queryKey: [kind] })),
  );
}

export const createUser = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: UserInput) => answer(api.POST("/api/v1/users", { body })),
  onSuccess: (_user, _body, _result, { client }) => refetch(client),
});

/** From a button in a list: a refusal is shown as a notice. */
export const setDisabled = mutationOptions({
  mutationFn: change,
  onSuccess: (_user, _wanted, _result, { client }) => refetch(client),
});

/** From a window, which shows a refusal itself. */
export const changeRoles = mutationOptions({ ...setDisabled, meta: { isShownInPlace: true } });

interface Change {
  readonly userId: number;
  readonly body: UserChange;
}

function change({ userId, body }: Change) {
  return answer(api.PUT("/api/v1/users/{user_id}", { params: { path: { user_id: userId } }, body }));
}

/** A URL that is shown this once. */
export const makeLink = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (userId: number) =>
    answer(api.POST("/api/v1/users/{user_id}/link", { params: { path: { user_id: userId } } })),
});
