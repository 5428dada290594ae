/** Asks for the next page of a list. */

import { Button } from "@mantine/core";

interface ShowMoreProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

export function ShowMore({ query }: ShowMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <Button
      loading={query.isFetchingNextPage}
      onClick={() => query.fetchNextPage()}
      variant="default"
      w="fit-content"
    >
      Show more
    </Button>
  );
}
