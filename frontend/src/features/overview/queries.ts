import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

/** The change feed reports neither silent nodes and stale series nor new points that leave a state unchanged. */
const POLL_MILLISECONDS = 60_000;

export function boardQuery(days: number) {
  return queryOptions({
    queryKey: ["standing", "list", days],
    queryFn: ({ signal }) => get("/api/v1/board", { query: { days }, signal }),
    placeholderData: (previous) => previous,
    refetchInterval: POLL_MILLISECONDS,
  });
}
