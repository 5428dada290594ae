import { queryOptions } from "@tanstack/react-query";
import { get } from "@/api/requests";

/** The change feed reports neither silent nodes and stale series nor new points that leave a state unchanged. */
const POLL_MILLISECONDS = 60_000;
/** Days of the plot change slowly. */
const FRESH_MILLISECONDS = 300_000;

export const USUAL_DAYS = 90;
/** A shorter plot would show too few days. */
const LEAST_PLOT_DAYS = 30;

export function plotDaysOf(days = USUAL_DAYS): number {
  return Math.max(days, LEAST_PLOT_DAYS);
}

export function boardQuery(days: number) {
  return queryOptions({
    queryKey: ["standing", "list", days],
    queryFn: ({ signal }) => get("/api/v1/board", { query: { days }, signal }),
    placeholderData: (previous) => previous,
    refetchInterval: POLL_MILLISECONDS,
  });
}

export interface ThroughputChoice {
  readonly workload?: string | undefined;
  readonly metric?: string | undefined;
  readonly operation?: string | undefined;
  /** File system of the targets. */
  readonly kind?: string | undefined;
}

export function throughputQuery(days: number, { workload, metric, operation, kind }: ThroughputChoice) {
  const query = { days, workload, metric, operation, kind };
  return queryOptions({
    queryKey: ["throughput", query],
    queryFn: ({ signal }) => get("/api/v1/board/throughput", { query, signal }),
    placeholderData: (previous) => previous,
    staleTime: FRESH_MILLISECONDS,
  });
}
