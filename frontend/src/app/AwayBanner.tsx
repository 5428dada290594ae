/** Banner while the server is unreachable or live updates are down. It retries and keeps everything on the page. */

import { t } from "@lingui/core/macro";
import { Button, Group, Text } from "@mantine/core";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { ApiError } from "@/api/errors";
import { formatLogTime } from "@/lib/time";

/** Shorter interruptions are not shown. */
const PATIENCE_MILLISECONDS = 4000;
const RETRY_MILLISECONDS = 10_000;

export default function AwayBanner({ isLineUp }: { isLineUp: boolean }) {
  const client = useQueryClient();
  const isApiAway = useApiAway(client);
  const isAway = useLasting(isApiAway || !isLineUp);
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => refetchActive(client), RETRY_MILLISECONDS);
    return () => clearInterval(timer);
  }, [client, isAway]);
  if (!isAway) return null;
  return (
    <Group className="iotide-away" gap="sm" role="alert">
      <Text size="sm">
        {isApiAway
          ? t`The server cannot be reached.`
          : t`Live updates are interrupted. The page refreshes every 10 seconds.`}{" "}
        {lastUpdated(client)}
        {isApiAway && t` Retrying automatically. Your input is kept.`}
      </Text>
      <Button
        onClick={() => refetchActive(client)}
        size="compact-sm"
        variant="default"
      >{t`Retry now`}</Button>
    </Group>
  );
}

/** Return whether a query on the page failed because the server did not answer. */
function useApiAway(client: QueryClient): boolean {
  const cache = client.getQueryCache();
  return useSyncExternalStore(
    (notify) => cache.subscribe(notify),
    () =>
      cache
        .findAll({ type: "active" })
        .some(({ state }) => isAwayError(state.error ?? state.fetchFailureReason)),
  );
}

export function isAwayError(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Return true once `isTrue` has held for the patience. */
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

function refetchActive(client: QueryClient): void {
  void client.refetchQueries({ type: "active" }, { cancelRefetch: false });
}
