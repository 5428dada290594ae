import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTitlesOf } from "@/components/optionTitles";
import { cellsQuery, measuresQuery } from "./queries";
import { groupResults, type Results, splitPrimary } from "./results";

/** Return the loaded results of a campaign by metric; undefined until they are. Without measures, all are primary. */
export function useResults(campaignId: number): Results | undefined {
  const { data: cells } = useInfiniteQuery(cellsQuery(campaignId));
  const { data: measures, isPending } = useQuery(measuresQuery(campaignId));
  const titlesOf = useTitlesOf();
  return useMemo(
    () =>
      cells && !isPending ? splitPrimary(groupResults(cells, titlesOf), measures?.metrics ?? []) : undefined,
    [cells, isPending, measures, titlesOf],
  );
}
