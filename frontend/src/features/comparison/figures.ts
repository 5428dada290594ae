/** A comparison as figures: the runs of both sides side by side, and how far B is from A; pure. */

import { t } from "@lingui/core/macro";
import type { ComparedMetric, ComparedPair } from "@/api/types";
import { describeValues, type TitleOf } from "@/lib/options";
import { type ComparedRuns, comparisonFigure } from "@/plots/comparison";
import { axisScale, type Figure, type Scheme } from "@/plots/figure";
import type { Shift } from "@/plots/shifts";

/** A pair with what it is called among the others. */
export interface NamedPair {
  readonly name: string;
  readonly pair: ComparedPair;
}

/** A number that several pairs have. */
export interface MetricChoice {
  readonly key: string;
  readonly title: string;
}

export const MOST_DRAWN_PAIRS = 24;
const LONGEST_NAME = 26;

type NumberNames = Pick<ComparedMetric, "metric" | "title" | "labels" | "target_name">;

/** What tells a number of a pair from its others; stands in the address. */
export function metricKey({ metric, target_name, labels }: NumberNames): string {
  const told = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [metric, ...told, ...(target_name ? [target_name] : [])].join(" ");
}

export function titleOfMetric({ title, labels, target_name }: NumberNames, titleOf: TitleOf): string {
  return [title, describeValues(labels, titleOf), target_name && t`on ${target_name}`]
    .filter(Boolean)
    .join(", ");
}

/** Every number of any pair, in the order in which they come. */
export function metricChoices(pairs: readonly ComparedPair[], titleOf: TitleOf): MetricChoice[] {
  const titles = new Map<string, string>();
  for (const metric of pairs.flatMap(({ metrics }) => metrics))
    titles.set(metricKey(metric), titles.get(metricKey(metric)) ?? titleOfMetric(metric, titleOf));
  return [...titles].map(([key, title]) => ({ key, title }));
}

interface Drawn {
  readonly name: string;
  readonly isAlike: boolean;
  readonly metric: ComparedMetric;
}

/** The pairs that have the number, as many as stay readable. */
export function drawnPairs(pairs: readonly NamedPair[], key: string): Drawn[] {
  return pairs
    .flatMap(({ name, pair }) => {
      const metric = pair.metrics.find((one) => metricKey(one) === key);
      return metric ? [{ name: shortened(name), isAlike: pair.is_alike, metric }] : [];
    })
    .slice(0, MOST_DRAWN_PAIRS);
}

/** Fits beside a figure; the number in front keeps it apart from the others. */
export function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

export function runsFigure(drawn: readonly Drawn[], scheme: Scheme): Figure {
  const values = drawn.flatMap(({ metric }) => [...metric.values_a, ...metric.values_b]);
  const side = (of: (metric: ComparedMetric) => Omit<ComparedRuns, "at">) =>
    drawn.map(({ metric }, at): ComparedRuns => ({ at, ...of(metric) }));
  return comparisonFigure(
    [
      {
        name: "A",
        runs: side(({ median_a, values_a, flags_a }) => ({
          median: median_a,
          values: values_a,
          flags: flags_a,
        })),
      },
      {
        name: "B",
        runs: side(({ median_b, values_b, flags_b }) => ({
          median: median_b,
          values: values_b,
          flags: flags_b,
        })),
      },
    ],
    {
      // Labels would not fit beside the axis; they stand in the choice above.
      metricTitle: drawn[0]?.metric.title ?? "",
      scale: axisScale(drawn[0]?.metric.unit ?? "count", values),
      highest: Math.max(0, ...values),
      axis: { kind: "category", title: "", ticks: drawn.map(({ name }, at) => ({ at, text: name })) },
      scheme,
    },
  );
}

export function shiftsOf(drawn: readonly Drawn[]): Shift[] {
  return drawn.map(({ name, isAlike, metric }) => ({
    name,
    ratio: metric.ratio ?? metric.median_ratio,
    low: metric.low,
    high: metric.high,
    isWeak: metric.ratio === null || !isAlike,
    words: metric.words,
  }));
}
