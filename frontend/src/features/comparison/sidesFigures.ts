/** Many sides as figures: their runs row by row, and how far each is from the baseline; pure. */

import { t } from "@lingui/core/macro";
import type { SidesComparison, SidesMetric, SidesRow } from "@/api/types";
import { optionValue, type TitleOf } from "@/lib/options";
import { type ComparedRuns, comparisonFigure } from "@/plots/comparison";
import { axisScale, type Figure, type Scheme } from "@/plots/figure";
import type { Shift } from "@/plots/shifts";
import { type MetricChoice, metricKey, shortened, titleOfMetric } from "./figures";

const OPTION = "options.";
const TITLES: Readonly<Record<string, string>> = {
  target: "Target",
  variant: "Variant",
  cluster: "Cluster",
  node: "Nodes",
  campaign: "Campaign",
  cell: "Cell",
};
export const MOST_DRAWN_ROWS = 12;

/** What cells are compared by, as a person says it. */
export function titleOfDimension(name: string, titleOf: TitleOf): string {
  return TITLES[name] ?? titleOf(name.startsWith(OPTION) ? name.slice(OPTION.length) : name);
}

/** A value of a dimension, or of something else that sides are unlike in. */
export function textOfPart(name: string, value: unknown): string {
  return optionValue(name.startsWith(OPTION) ? name.slice(OPTION.length) : name, value);
}

/** What each side is called; cells that were named have no name of their own. */
export function sideNames({ by, sides, rows }: SidesComparison): string[] {
  if (by !== "cell") return sides.map((value) => textOfPart(by ?? "", value));
  const cells = rows[0]?.cells ?? [];
  return sides.map((id, place) => {
    const cell = cells[place];
    if (!cell) return t`cell ${String(id)}`;
    const where = cell.target_names.join("+") || cell.node_names.join("+");
    return t`${cell.campaign_name} (${cell.campaign_id}), cell ${cell.ordinal}, ${where}`;
  });
}

/** A row with what tells it from the others. */
export interface NamedRow {
  readonly name: string;
  readonly row: SidesRow;
}

/** Where the cells of each row ran, as far as that is the same for all of them and not for all rows. */
export function placesOf(rows: readonly SidesRow[], by: string | null): string[] {
  const told = rows.map(({ cells }) => {
    const present = cells.filter((cell) => cell !== null);
    const common = (names: readonly string[]) => (new Set(names).size === 1 ? (names[0] ?? "") : "");
    return [
      by === "target" ? "" : common(present.map(({ target_names }) => target_names.join("+"))),
      by === "node" ? "" : common(present.map(({ node_names }) => node_names.join("+"))),
      by === "variant" ? "" : common(present.map(({ variant }) => variant)),
    ];
  });
  const varies = [0, 1, 2].filter((part) => new Set(told.map((parts) => parts[part])).size > 1);
  return told.map((parts) =>
    varies
      .map((part) => parts[part])
      .filter(Boolean)
      .join(", "),
  );
}

export function metricsOf(rows: readonly SidesRow[], titleOf: TitleOf): MetricChoice[] {
  const titles = new Map<string, string>();
  for (const metric of rows.flatMap(({ metrics }) => metrics))
    titles.set(metricKey(metric), titles.get(metricKey(metric)) ?? titleOfMetric(metric, titleOf));
  return [...titles].map(([key, title]) => ({ key, title }));
}

export interface DrawnRow extends NamedRow {
  readonly metric: SidesMetric;
}

/** The rows that have the number. */
export function rowsWith(rows: readonly NamedRow[], key: string): DrawnRow[] {
  return rows.flatMap((named) => {
    const metric = named.row.metrics.find((one) => metricKey(one) === key);
    return metric ? [{ ...named, metric }] : [];
  });
}

/** Every run a dot over the bar of its side. */
export function sidesFigure(rows: readonly DrawnRow[], names: readonly string[], scheme: Scheme): Figure {
  const drawn = rows.slice(0, MOST_DRAWN_ROWS);
  const values = drawn.flatMap(({ metric }) => metric.numbers.flatMap((side) => side?.values ?? []));
  const first = drawn[0]?.metric;
  return comparisonFigure(
    names.map((name, place) => ({
      name: shortened(name),
      runs: drawn.flatMap(({ metric }, at): ComparedRuns[] => {
        const side = metric.numbers[place];
        return side
          ? [{ at, median: side.median, values: side.values, runIds: side.run_ids, flags: side.flags }]
          : [];
      }),
    })),
    {
      metricTitle: first?.title ?? "",
      scale: axisScale(first?.unit ?? "count", values),
      highest: Math.max(0, ...values),
      axis: {
        kind: "category",
        title: "",
        ticks: drawn.map(({ name }, at) => ({ at, text: shortened(name) })),
      },
      scheme,
    },
  );
}

/** One line for each side of each row, but for the baseline. */
export function sidesShifts(rows: readonly DrawnRow[], names: readonly string[]): Shift[] {
  const drawn = rows.slice(0, MOST_DRAWN_ROWS);
  return drawn.flatMap(({ name, row, metric }, at) =>
    metric.verdicts.flatMap((verdict, place): Shift[] => {
      if (!verdict) return [];
      const side = shortened(names[place] ?? "");
      return [
        {
          name: drawn.length > 1 ? `${at + 1}: ${side}, ${shortened(name)}` : side,
          ratio: verdict.ratio ?? verdict.median_ratio,
          low: verdict.low,
          high: verdict.high,
          isWeak: verdict.ratio === null || !row.cells[place]?.is_alike,
          words: verdict.words,
        },
      ];
    }),
  );
}
