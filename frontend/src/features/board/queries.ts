/** The request of the status board. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** Of nodes that fall silent and series that stop there is no news. */
const LOOK_AGAIN_MILLISECONDS = 60_000;

/** How each cluster's workloads stand beside so many days ago; each analysis of a series may change it. */
export function boardQuery(days: number) {
  return queryOptions({
    queryKey: ["series", "list", "board", days],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/board", { params: { query: { days } }, signal })),
    placeholderData: (previous) => previous,
    refetchInterval: LOOK_AGAIN_MILLISECONDS,
  });
}
