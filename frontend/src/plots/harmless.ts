/** Texts of figures, in which plotly reads tags: only those that make letters bold or small are left, never a link. */

const PLAIN_TAG = /<(?!\/?(?:b|i|em|sub|sup|extra)>|br ?\/?>)/gi;

/** The figure, or a part of it, with what would be another tag as the sign that it is. */
export function harmless<T>(part: T): T {
  if (typeof part === "string") return part.replace(PLAIN_TAG, "&lt;") as T;
  if (Array.isArray(part)) return (isOfNumbers(part) ? part : part.map(harmless)) as T;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  if (part instanceof Date) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, harmless(value)])) as T;
}

/** Thousands of points are numbers, and are handed on as they are. */
function isOfNumbers(list: readonly unknown[]): boolean {
  return list.every((item) => typeof item === "number" || item === null);
}
