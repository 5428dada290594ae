import { t } from "@lingui/core/macro";
import { Alert, Box, Button, Card, Code, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useId } from "react";
import { ApiError } from "@/api/errors";
import { Hint } from "@/components/looks";
import { formatLogTime } from "@/lib/time";
import { Icon } from "./Icon";

interface PageProps {
  readonly title: string;
  /** Badge next to the heading. */
  readonly status?: ReactNode;
  /** Breadcrumb above the heading. */
  readonly trail?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, status, trail, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · iotide`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group align="flex-end" justify="space-between">
        <Box>
          {trail && <Hint component="div">{trail}</Hint>}
          <Group gap="sm">
            <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
              {title}
            </Title>
            {status}
          </Group>
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a heading, announced as a region. */
export function Section({ title, description, actions, children }: SectionProps) {
  const headingId = useId();
  return (
    <Card aria-labelledby={headingId} component="section" padding="md" withBorder>
      <Group justify="space-between" mb="sm">
        <Box>
          <Title id={headingId} order={2} size="h4">
            {title}
          </Title>
          {description && <Hint>{description}</Hint>}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Card>
  );
}

interface LoadedPageProps<Data> {
  /** Heading until the data is loaded, for example “Run 7”. */
  readonly title: string;
  readonly query: Query<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** A page that has a heading also while its data loads or if loading fails. */
export function LoadedPage<Data>({ title, query, children }: LoadedPageProps<Data>) {
  const loaded = (
    <Loaded lines={8} query={query}>
      {children}
    </Loaded>
  );
  return query.data === undefined ? <Page title={title}>{loaded}</Page> : loaded;
}

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
  /** Shown instead of the children for an empty list or if `isEmpty` returns true. A string becomes a grey line. */
  readonly empty?: ReactNode;
  readonly isEmpty?: (data: Data) => boolean;
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
      {t`Data from ${formatLogTime(at)}. Refresh failed: ${error.message}`}
    </Alert>
  );
}

export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <Alert color="red" icon={<Icon name="alert" />} role="alert" title={error.message}>
      {error instanceof ApiError && <Remedy error={error} />}
      {onRetry && (
        <Button color="red" mt="sm" onClick={onRetry} size="xs" variant="outline">{t`Try again`}</Button>
      )}
    </Alert>
  );
}

function Remedy({ error }: { error: ApiError }) {
  return (
    <Group gap="xs">
      {error.remedy && <Text size="sm">{error.remedy}</Text>}
      <Code>{error.code}</Code>
      {/* Finds the log lines of a server error. */}
      {error.status >= 500 && error.requestId && <Code>{t`request ${error.requestId}`}</Code>}
    </Group>
  );
}

interface ShowMoreProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly isFetchNextPageError: boolean;
    readonly error: Error | null;
    readonly fetchNextPage: () => unknown;
  };
}

export function ShowMore({ query }: ShowMoreProps) {
  if (!query.hasNextPage) return null;
  if (query.isFetchNextPageError && query.error && !query.isFetchingNextPage)
    return <ErrorNotice error={query.error} onRetry={() => query.fetchNextPage()} />;
  return (
    <Button
      loading={query.isFetchingNextPage}
      onClick={() => query.fetchNextPage()}
      variant="default"
      w="fit-content"
    >{t`Show more`}</Button>
  );
}
