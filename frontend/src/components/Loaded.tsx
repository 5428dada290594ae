/** The four states of whatever comes from the server: loading, failed, empty, and there (perhaps no longer fresh). */

import { t } from "@lingui/core/macro";
import { Alert, Skeleton, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { formatLogTime } from "@/lib/time";
import { ErrorNotice } from "./ErrorNotice";

/** What is asked of a query or an infinite query. */
export interface Query<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isRefetchError: boolean;
  readonly dataUpdatedAt: number;
  readonly refetch: () => unknown;
}

interface LoadedProps<Data> {
  readonly query: Query<Data>;
  readonly children: (data: Data) => ReactNode;
  /** Shown instead of the children for a list without entries, or where `isEmpty` says so; a string is a grey line. */
  readonly empty?: ReactNode;
  readonly isEmpty?: (data: Data) => boolean;
  /** Number of grey lines shown while it loads. */
  readonly lines?: number;
}

export function Loaded<Data>({ query, children, empty, isEmpty, lines = 3 }: LoadedProps<Data>) {
  if (query.data === undefined) {
    if (query.error) return <ErrorNotice error={query.error} onRetry={query.refetch} />;
    return <Loading lines={lines} />;
  }
  const isListEmpty = empty !== undefined && Array.isArray(query.data) && query.data.length === 0;
  return (
    <>
      {query.isRefetchError && query.error && <NotFresh at={query.dataUpdatedAt} error={query.error} />}
      {(isEmpty?.(query.data) ?? isListEmpty) ? <Empty>{empty}</Empty> : children(query.data)}
    </>
  );
}

function Empty({ children }: { children: ReactNode }) {
  return typeof children === "string" ? <Text c="dimmed">{children}</Text> : children;
}

export function Loading({ lines }: { lines: number }) {
  return (
    <Stack aria-busy="true" aria-label={t`Loading`} gap="xs" role="status">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike and never move
        <Skeleton height={22} key={line} radius="sm" />
      ))}
    </Stack>
  );
}

function NotFresh({ at, error }: { at: number; error: Error }) {
  return (
    <Alert color="orange" mb="sm" role="status">
      {t`Shown as of ${formatLogTime(at)}; refreshing failed: ${error.message}`}
    </Alert>
  );
}
