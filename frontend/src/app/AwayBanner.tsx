/** Says that the server is away, since when what is shown is of then, and asks again by itself; nothing on the page is lost. */

import { t } from "@lingui/core/macro";
import { Button, Group, Text } from "@mantine/core";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { ApiError } from "@/api/errors";
import { formatLogTime } from "@/lib/time";

/** A line that is back within this was not worth a word. */
const PATIENCE_MILLISECONDS = 4000;
const ASK_AGAIN_MILLISECONDS = 10_000;

export default function AwayBanner({ isLineUp }: { isLineUp: boolean }) {
  const client = useQueryClient();
  const isApiAway = useApiAway(client);
  const isAway = useLasting(isApiAway || !isLineUp);
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => askAgain(client), ASK_AGAIN_MILLISECONDS);
    return () => clearInterval(timer);
  }, [client, isAway]);
  if (!isAway) return null;
  return (
    <Group className="iotide-away" gap="sm" role="alert">
      <Text size="sm">
        {isApiAway
          ? t`The server cannot be reached.`
          : t`No news from the server; what is shown is asked for again.`}{" "}
        {lastUpdated(client)}
        {isApiAway && t` It is asked again by itself; nothing that you have entered is lost.`}
      </Text>
      <Button onClick={() => askAgain(client)} size="compact-sm" variant="default">{t`Ask now`}</Button>
    </Group>
  );
}

/** Whether a question that is on the page has had no answer from the server itself. */
function useApiAway(client: QueryClient): boolean {
  const cache = client.getQueryCache();
  return useSyncExternalStore(
    (tell) => cache.subscribe(tell),
    () =>
      cache
        .findAll({ type: "active" })
        .some(({ state }) => isAwayError(state.error ?? state.fetchFailureReason)),
  );
}

export function isAwayError(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** True once it was true for a while. */
function useLasting(isTrue: boolean): boolean {
  const [hasLasted, setHasLasted] = useState(false);
  useEffect(() => {
    if (!isTrue) return setHasLasted(false);
    const timer = setTimeout(() => setHasLasted(true), PATIENCE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [isTrue]);
  return isTrue && hasLasted;
}

function lastUpdated(client: QueryClient): string {
  const times = client
    .getQueryCache()
    .findAll({ type: "active" })
    .map(({ state }) => state.dataUpdatedAt);
  const last = times.reduce((most, time) => Math.max(most, time), 0);
  return last > 0 ? t`Last updated ${formatLogTime(last)}.` : "";
}

function askAgain(client: QueryClient): void {
  void client.refetchQueries({ type: "active" }, { cancelRefetch: false });
}
