/** Escapes texts of figures. Plotly interprets tags; only bold and small text is allowed, no links. */

const PLAIN_TAG = /<(?!\/?(?:b|i|em|sub|sup|extra)>|br ?\/?>)/gi;

/** Escapes all other tags in a figure or a part of it. */
export function escapeTags<T>(part: T): T {
  if (typeof part === "string") return part.replace(PLAIN_TAG, "&lt;") as T;
  if (Array.isArray(part)) return (isOfNumbers(part) ? part : part.map(escapeTags)) as T;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  if (part instanceof Date) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, escapeTags(value)])) as T;
}

/** Arrays of numbers are returned as they are; they may have thousands of items. */
function isOfNumbers(list: readonly unknown[]): boolean {
  return list.every((item) => typeof item === "number" || item === null);
}
