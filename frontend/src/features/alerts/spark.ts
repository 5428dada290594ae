/** Geometry of an incident's sparkline. */

export interface SparkSize {
  readonly width: number;
  readonly height: number;
  readonly inset: number;
}

export function sparkPath(at: readonly string[], values: readonly number[], size: SparkSize): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const inner = size.height - 2 * size.inset;
  return values
    .map((value, index) => {
      const y = high > low ? size.inset + ((high - value) / (high - low)) * inner : size.height / 2;
      return `${round(placeOf(at, at[index] ?? "", size))},${round(y)}`;
    })
    .join(" ");
}

/** The incident within the drawn time, at least two pixels wide; without an end it reaches to the last point. */
export function sparkSpan(
  at: readonly string[],
  from: string,
  until: string | null,
  size: SparkSize,
): { readonly x: number; readonly width: number } {
  const start = placeOf(at, from, size);
  const end = until === null ? size.width - size.inset : placeOf(at, until, size);
  const x = Math.min(start, size.width - size.inset - 2);
  return { x: round(x), width: round(Math.max(2, end - x)) };
}

function placeOf(at: readonly string[], time: string, { width, inset }: SparkSize): number {
  const first = Date.parse(at[0] ?? "");
  const last = Date.parse(at.at(-1) ?? "");
  const share = last > first ? (Date.parse(time) - first) / (last - first) : 0;
  return inset + Math.min(1, Math.max(0, share)) * (width - 2 * inset);
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
