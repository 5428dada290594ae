/** Requests of advice. */

import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

/** What agents said last of a target and what its newest campaigns measured. */
export function targetAdviceQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", targetId, "advice"],
    queryFn: ({ signal }) =>
      get("/api/v1/targets/{target_id}/advice", { path: { target_id: targetId }, signal }),
  });
}

/** Keyed as cells are, which new points make stale. */
export function campaignAdviceQuery(campaignId: number, claimedRatio: number | null) {
  const query = { claimed_ratio: claimedRatio };
  return queryOptions({
    queryKey: ["cell", "advice", campaignId, claimedRatio],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/advice", { path: { campaign_id: campaignId }, query, signal }),
  });
}
