/** Loaded points and analyses of drawn series. */

import { t } from "@lingui/core/macro";
import { type UseQueryResult, useQueries } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Points, Series, SeriesAnalysis } from "@/api/types";
import type { Span } from "@/plots/timeAxis";
import type { Analyses, NamedPoints } from "./drawn";
import { analysisQuery, pointsQuery } from "./queries";

const NO_LINES: readonly NamedPoints[] = [];

/**
 * Loaded points of the drawn series, together: a drawing takes longer than most requests. The previous ones stay until
 * all are loaded.
 */
export function useLines(drawn: readonly Series[], names: ReadonlyMap<number, string>, span: Span) {
  const combine = useCallback(
    (results: readonly UseQueryResult<Points>[]) => ({
      lines: results.flatMap(({ data }): NamedPoints[] =>
        data ? [{ name: names.get(data.series.id) ?? t`series ${data.series.id}`, points: data }] : [],
      ),
      failed: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some((result) => result.isPending),
    }),
    [names],
  );
  const loading = useQueries({ queries: drawn.map(({ id }) => pointsQuery(id, span)), combine });
  const [lines, setLines] = useState(NO_LINES);
  if (!loading.isPending && lines !== loading.lines) setLines(loading.lines);
  return { ...loading, lines };
}

/** Loaded analyses by series id. */
export function useAnalyses(drawn: readonly Series[]): Analyses {
  const combine = useCallback(
    (results: readonly UseQueryResult<SeriesAnalysis>[]) =>
      new Map(results.flatMap(({ data }) => (data ? [[data.series_id, data] as const] : []))),
    [],
  );
  return useQueries({ queries: drawn.map(({ id }) => analysisQuery(id)), combine });
}
