/**
 * Cache of server data. The change feed keeps it fresh, errors are shown once, and an ended session opens the sign-in
 * page.
 */

import { notifications } from "@mantine/notifications";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError, retryDelay, retryWhileBusy } from "@/api/errors";

const FRESH_MILLISECONDS = 15_000;
const MOST_RETRIES = 2;

export function createQueryClient(onSessionEnded: () => void): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => endIfNotLoggedIn(error) }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, mutation) => {
        endIfNotLoggedIn(error);
        if (mutation.meta?.isShownInPlace) return;
        const remedy = error instanceof ApiError ? error.remedy : null;
        notifications.show({ color: "red", title: error.message, message: remedy ?? "" });
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MILLISECONDS,
        retry: (failures, error) =>
          retryWhileBusy(failures, error) || (failures < MOST_RETRIES && isTransient(error)),
        retryDelay,
      },
      mutations: { retry: retryWhileBusy, retryDelay },
    },
  });

  function endIfNotLoggedIn(error: Error): void {
    const isEnded = error instanceof ApiError && error.code === "not_authenticated";
    // Without a session nothing has ended: the route itself opens the sign-in page.
    if (!isEnded || client.getQueryData(["session"]) === undefined) return;
    client.clear();
    onSessionEnded();
  }

  return client;
}

/** Return whether a retry may help: the server is unreachable and did not reject the request. */
function isTransient(error: Error): boolean {
  if (!(error instanceof ApiError) || error.code === "took_too_long") return false;
  return error.status === 0 || error.status >= 502;
}
