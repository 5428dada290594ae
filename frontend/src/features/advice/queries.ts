/** Requests of advice. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** What agents said last of a target and what its newest campaigns measured. */
export function targetAdviceQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", targetId, "advice"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/targets/{target_id}/advice", { params: { path: { target_id: targetId } }, signal }),
      ),
  });
}

/** Keyed as cells are, which new points make stale. */
export function campaignAdviceQuery(campaignId: number, claimedRatio: number | null) {
  return queryOptions({
    queryKey: ["cell", "advice", campaignId, claimedRatio],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/campaigns/{campaign_id}/advice", {
          params: { path: { campaign_id: campaignId }, query: { claimed_ratio: claimedRatio } },
          signal,
        }),
      ),
  });
}
