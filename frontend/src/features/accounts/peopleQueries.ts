/** Requests of the people that administrators add, change and let in. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { getEvery, post, put, refetch } from "@/api/requests";
import type { UserChange, UserInput } from "@/api/types";

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
