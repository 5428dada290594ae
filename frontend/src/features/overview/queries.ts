/** The request of the status board. */

import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

/** No update tells of nodes that fall silent, series that stop, and new points of series whose state stays. */
const LOOK_AGAIN_MILLISECONDS = 60_000;

/** The status board of the last days; updates of its own say when it may have changed. */
export function boardQuery(days: number) {
  return queryOptions({
    queryKey: ["standing", "list", days],
    queryFn: ({ signal }) => get("/api/v1/board", { query: { days }, signal }),
    placeholderData: (previous) => previous,
    refetchInterval: LOOK_AGAIN_MILLISECONDS,
  });
}
