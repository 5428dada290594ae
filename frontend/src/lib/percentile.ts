/** Percentiles of runs, each of which is a value that was measured. */

/** The value that so many percent of them do not exceed (nearest rank); `ordered` rises and has a value. */
export function percentile(ordered: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * ordered.length));
  return ordered[rank - 1] ?? Number.NaN;
}
