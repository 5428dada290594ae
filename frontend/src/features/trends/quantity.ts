/** One chart draws one quantity: groups of series that share an axis. */

import type { Series } from "@/api/types";
import { optionValue } from "@/lib/options";

/** Labels that make another quantity of a metric. The others are its conditions, such as a file size. */
const QUANTITY_LABELS = ["operation", "part", "pattern", "order", "percentile"] as const;
/** Values within this factor are of the same order of magnitude. */
const SAME_ORDER = 10;

/** For example `read, p99`; empty if the metric is one quantity. */
export function quantityOf({ labels }: Pick<Series, "labels">): string {
  return QUANTITY_LABELS.filter((name) => name in labels)
    .map((name) => optionValue(name, labels[name]))
    .join(", ");
}

export interface Quantity<Item> {
  readonly title: string;
  readonly items: readonly Item[];
}

/**
 * Items by title, in the order of their first ones.
 *
 * Series of another order of magnitude get another group, so that no line is flat because of another one.
 */
export function byQuantity<Item>(
  items: readonly Item[],
  seriesOf: (item: Item) => Series,
  titleOf: (series: Series) => string,
): readonly Quantity<Item>[] {
  const groups: { title: string; number: number; first: Series; items: Item[] }[] = [];
  for (const item of items) {
    const series = seriesOf(item);
    const title = titleOf(series);
    const alike = groups.filter((group) => group.title === title);
    const own = alike.find(({ first }) => isSameOrder(first, series));
    if (own) own.items.push(item);
    else groups.push({ title, number: alike.length + 1, first: series, items: [item] });
  }
  return groups.map(({ title, number, items: own }) => ({
    title: number > 1 ? `${title} (${number})`.trimStart() : title,
    items: own,
  }));
}

function isSameOrder(a: Series, b: Series): boolean {
  const [least = 0, most = 0] = [a, b]
    .map(({ last_value }) => Math.abs(last_value ?? 0))
    .sort((x, y) => x - y);
  return least === 0 || most < SAME_ORDER * least;
}
