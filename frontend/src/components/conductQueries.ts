/** How the runs of a campaign were really measured. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** Keyed as cells: each new result may change it. */
export function conductQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["cell", "conduct", campaignId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}/conduct", {
          params: { path: { campaign_id: campaignId } },
          signal,
        }),
      ),
  });
}
