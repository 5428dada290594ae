import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

export function targetAdviceQuery(targetId: number) {
  return queryOptions({
    queryKey: ["target", targetId, "advice"],
    queryFn: ({ signal }) =>
      get("/api/v1/targets/{target_id}/advice", { path: { target_id: targetId }, signal }),
  });
}

/** Keyed as cells, so that new points refetch it. */
export function campaignAdviceQuery(campaignId: number, claimedRatio: number | null) {
  const query = { claimed_ratio: claimedRatio };
  return queryOptions({
    queryKey: ["cell", "advice", campaignId, claimedRatio],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/advice", { path: { campaign_id: campaignId }, query, signal }),
  });
}
