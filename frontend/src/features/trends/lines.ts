/** The points and the analyses of the drawn series, asked of the server. */

import { t } from "@lingui/core/macro";
import { keepPreviousData, type UseQueryResult, useQueries } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Points, Series, SeriesAnalysis } from "@/api/types";
import type { Analyses, NamedPoints } from "./drawn";
import { analysisQuery, pointsQuery, type Span } from "./queries";

/** The points of the drawn series, as far as they have come; those of the last span until those of the next one are there. */
export function useLines(drawn: readonly Series[], names: ReadonlyMap<number, string>, span: Span) {
  const combine = useCallback(
    (results: readonly UseQueryResult<Points>[]) => ({
      lines: results.flatMap(({ data }): NamedPoints[] =>
        data ? [{ name: names.get(data.series.id) ?? t`series ${data.series.id}`, points: data }] : [],
      ),
      failed: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some((result) => result.isPending || result.isPlaceholderData),
    }),
    [names],
  );
  return useQueries({
    queries: drawn.map(({ id }) => ({ ...pointsQuery(id, span), placeholderData: keepPreviousData })),
    combine,
  });
}

/** By series the last analysis of each that is drawn, as far as they have come. */
export function useAnalyses(drawn: readonly Series[]): Analyses {
  const combine = useCallback(
    (results: readonly UseQueryResult<SeriesAnalysis>[]) =>
      new Map(results.flatMap(({ data }) => (data ? [[data.series_id, data] as const] : []))),
    [],
  );
  return useQueries({ queries: drawn.map(({ id }) => analysisQuery(id)), combine });
}
