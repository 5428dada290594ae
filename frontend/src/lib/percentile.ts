/** Nearest-rank percentiles, which are measured values, and medians. */

/** `ordered` must be ascending and not empty. */
export function percentile(ordered: readonly number[], percent: number): number {
  const rank = Math.max(1, Math.ceil((percent / 100) * ordered.length));
  return ordered[rank - 1] ?? Number.NaN;
}

/** Return the middle value, or the mean of the two in the middle. */
export function medianOf(values: readonly number[]): number {
  const ordered = [...values].sort((a, b) => a - b);
  const [below = Number.NaN, above = below] = ordered.slice(Math.ceil(ordered.length / 2) - 1);
  return ordered.length % 2 === 0 ? (below + above) / 2 : below;
}
