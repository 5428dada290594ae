/** The one cache of server data: fresh by the server's change feed, errors shown once, an ended session leads to the login. */

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
    // Only a session that was there can end: the first question for it leads to the login by its route.
    if (!isEnded || client.getQueryData(["session"]) === undefined) return;
    client.clear();
    onSessionEnded();
  }

  return client;
}

/** A refusal stays a refusal; a server that is away may come back. */
function isTransient(error: Error): boolean {
  if (!(error instanceof ApiError) || error.code === "took_too_long") return false;
  return error.status === 0 || error.status >= 502;
}
