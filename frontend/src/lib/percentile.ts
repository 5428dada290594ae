/** Nearest-rank percentiles, which are measured values. */

/** `ordered` must be ascending and not empty. */
export function percentile(ordered: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * ordered.length));
  return ordered[rank - 1] ?? Number.NaN;
}
