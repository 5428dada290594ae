import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Series } from "@/api/types";
import { useNow } from "@/components/clock";
import { analysisQuery, manyPointsQuery } from "./queries";
import { subjectPanels, subjectSince } from "./subject";
import { type Subject, subjectSeriesQuery } from "./subjectQueries";

const NOW_STEP_SECONDS = 600;
const NONE: readonly Series[] = [];

/** The drawn series of a node or target with their points. Status line and charts share the requests. */
export function useSubject(subject: Subject) {
  const now = useNow(NOW_STEP_SECONDS);
  const since = subjectSince(now);
  const series = useQuery(subjectSeriesQuery(subject));
  const all = series.data ?? NONE;
  const found = useMemo(() => subjectPanels(all, since), [all, since]);
  const drawn = useMemo(() => found.panels.flatMap((panel) => panel.series), [found]);
  const span = { from: new Date(since).toISOString() };
  const points = useQuery({
    ...manyPointsQuery(
      drawn.map(({ id }) => id),
      span,
    ),
    enabled: drawn.length > 0,
  });
  return { series, found, drawn, points, since, now };
}

/** Analyses of series by id, as far as they are loaded. */
export function useAnalyses(series: readonly Series[]) {
  const answers = useQueries({ queries: series.map(({ id }) => analysisQuery(id)) });
  return new Map(answers.flatMap(({ data }) => (data ? [[data.series_id, data] as const] : [])));
}
