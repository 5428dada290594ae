import { useQueries } from "@tanstack/react-query";
import type { ListedCampaign } from "@/api/types";
import { isOpen } from "./CampaignProgress";
import type { Headlines } from "./CampaignTable";
import { headlinesQuery } from "./queries";

const MOST_AT_ONCE = 50;

/** Load the main results of campaigns that have ended. */
export function useHeadlines(campaigns: readonly ListedCampaign[]): Headlines {
  const ended = campaigns.filter((campaign) => !isOpen(campaign)).map(({ id }) => id);
  const parts = Array.from({ length: Math.ceil(ended.length / MOST_AT_ONCE) }, (_, part) =>
    ended.slice(part * MOST_AT_ONCE, (part + 1) * MOST_AT_ONCE),
  );
  return useQueries({ queries: parts.map(headlinesQuery), combine: merge });
}

function merge(answers: readonly { readonly data?: Headlines | undefined }[]): Headlines {
  return new Map(answers.flatMap(({ data }) => (data ? [...data] : [])));
}
