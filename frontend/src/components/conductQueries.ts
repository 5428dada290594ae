import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

/** Keyed as cells, since each new result may change it. */
export function conductQuery(campaignId: number) {
  return queryOptions({
    queryKey: ["cell", "conduct", campaignId],
    queryFn: ({ signal }) =>
      get("/api/v1/campaigns/{campaign_id}/conduct", { path: { campaign_id: campaignId }, signal }),
  });
}
