/** Asks for the next page of a list. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { ErrorNotice } from "./ErrorNotice";

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
