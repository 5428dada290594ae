/** What is compared, in one form for two campaigns and many sides: rows of one cell a side, with every number of each; pure. */

import { t } from "@lingui/core/macro";
import type {
  ComparedCell,
  ComparedMetric,
  ComparedPair,
  SideNumbers,
  SideOfRow,
  SidesComparison,
  SidesMetric,
  SidesRow,
  SideVerdict,
} from "@/api/types";
import { describeValues, optionValue, type TitleOf, type Values } from "@/lib/options";
import { type ComparedRuns, comparisonFigure } from "@/plots/comparison";
import { axisScale, type Figure, type Scheme } from "@/plots/figure";
import type { Shift } from "@/plots/shifts";

export type Cell = ComparedCell & Pick<SideOfRow, "is_alike">;
/** Runs of two campaigns are not known by number. */
export type Numbers = Omit<SideNumbers, "run_ids"> & Partial<Pick<SideNumbers, "run_ids">>;
export type Verdict = Omit<SideVerdict, "runs_missing">;

export interface Metric extends Omit<SidesMetric, "numbers" | "verdicts"> {
  readonly numbers: readonly (Numbers | null)[];
  readonly verdicts: readonly (Verdict | null)[];
}

export interface Row extends Omit<SidesRow, "cells" | "metrics"> {
  /** What tells it from the others. */
  readonly name: string;
  readonly cells: readonly (Cell | null)[];
  readonly metrics: readonly Metric[];
}

export interface Compared {
  /** What the sides are called. */
  readonly names: readonly string[];
  /** The place of the baseline. */
  readonly against: number;
  readonly rows: readonly Row[];
}

export const PAIR = ["A", "B"];
const OPTION = "options.";
const LONGEST_NAME = 26;
const TITLES: Readonly<Record<string, string>> = {
  target: "Target",
  variant: "Variant",
  cluster: "Cluster",
  node: "Nodes",
  campaign: "Campaign",
  cell: "Cell",
};

function optionOf(name: string): string {
  return name.startsWith(OPTION) ? name.slice(OPTION.length) : name;
}

/** What cells are compared by, as a person says it. */
export function titleOfDimension(name: string, titleOf: TitleOf): string {
  return TITLES[name] ?? titleOf(optionOf(name));
}

/** A value of a dimension, or of something else that sides are unlike in. */
export function textOfPart(name: string, value: unknown): string {
  return optionValue(optionOf(name), value);
}

/** A pair as a row of two sides, of which A is the baseline. */
export function pairRow({ a, b, differences, is_alike, metrics }: ComparedPair, name: string): Row {
  return {
    ...{ name, workload: a.workload, options: a.options },
    cells: [
      { ...a, is_alike: true },
      { ...b, is_alike },
    ],
    differences: differences.map((unlike) => ({ name: unlike.name, values: [unlike.a, unlike.b] })),
    metrics: metrics.map((metric) => ({
      ...metric,
      numbers: [numbersOf(metric, "a"), numbersOf(metric, "b")],
      verdicts: [null, metric],
    })),
  };
}

function numbersOf(metric: ComparedMetric, side: "a" | "b"): Numbers {
  const [n, median, values] = [metric[`n_${side}`], metric[`median_${side}`], metric[`values_${side}`]];
  return { n, median, values, flags: metric[`flags_${side}`], modes: metric[`modes_${side}`] };
}

/** A row of many sides, each cell with options of its own. */
export function sidesRow({ by, sides }: SidesComparison, row: SidesRow, name: string): Row {
  const unlike = [{ name: by ?? "", values: sides }, ...row.differences].filter(({ name: what }) =>
    what.startsWith(OPTION),
  );
  const optionsAt = (place: number): Values =>
    Object.fromEntries(unlike.map(({ name: what, values }) => [optionOf(what), values[place]]));
  return {
    ...row,
    name,
    cells: row.cells.map(
      (cell, place) =>
        cell && { ...cell, workload: row.workload, options: { ...row.options, ...optionsAt(place) } },
    ),
  };
}

/** What each side is called; cells that were named have no name of their own. */
export function sideNames({ by, sides, rows }: SidesComparison): string[] {
  if (by !== "cell") return sides.map((value) => textOfPart(by ?? "", value));
  return sides.map((id, place) => {
    const cell = rows[0]?.cells[place];
    if (!cell) return t`cell ${String(id)}`;
    const where = cell.target_names.join("+") || cell.node_names.join("+");
    return t`${cell.campaign_name} (${cell.campaign_id}), cell ${cell.ordinal}, ${where}`;
  });
}

/** Where the cells of each row ran, as far as that is the same for all of them and not for all rows. */
export function placesOf(rows: readonly SidesRow[], by: string | null): string[] {
  const told = rows.map(({ cells }) => {
    const common = (name: string, of: (cell: SideOfRow) => string) => {
      const found = new Set(cells.flatMap((cell) => (cell ? [of(cell)] : [])));
      return by !== name && found.size === 1 ? [...found].join("") : "";
    };
    return [
      common("target", ({ target_names }) => target_names.join("+")),
      common("node", ({ node_names }) => node_names.join("+")),
      common("variant", ({ variant }) => variant),
    ];
  });
  const varies = [0, 1, 2].filter((part) => new Set(told.map((parts) => parts[part])).size > 1);
  return told.map((parts) => varies.flatMap((part) => parts[part] || []).join(", "));
}

type NumberNames = Pick<Metric, "metric" | "title" | "labels" | "target_name">;

/** What tells a number of a row from its others; stands in the address. */
export function metricKey({ metric, target_name, labels }: NumberNames): string {
  const told = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [metric, ...told, ...(target_name ? [target_name] : [])].join(" ");
}

export function titleOfMetric({ title, labels, target_name }: NumberNames, titleOf: TitleOf): string {
  return [title, describeValues(labels, titleOf), target_name && t`on ${target_name}`]
    .filter(Boolean)
    .join(", ");
}

/** Every number of any row by its key, in the order in which they come. */
export function metricTitles(rows: readonly Row[], titleOf: TitleOf): Map<string, string> {
  const titles = new Map<string, string>();
  for (const metric of rows.flatMap(({ metrics }) => metrics))
    titles.set(metricKey(metric), titles.get(metricKey(metric)) ?? titleOfMetric(metric, titleOf));
  return titles;
}

/** A row with one of its numbers. */
export interface MetricRow extends Row {
  readonly metric: Metric;
}

/** The rows that have the number. */
export function rowsWith(rows: readonly Row[], key: string): MetricRow[] {
  return rows.flatMap((row) => {
    const metric = row.metrics.find((one) => metricKey(one) === key);
    return metric ? [{ ...row, metric }] : [];
  });
}

/** Fits beside a figure; the number in front keeps it apart from the others. */
export function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

/** Every run a dot over the bar of its side. */
export function runsFigure(rows: readonly MetricRow[], names: readonly string[], scheme: Scheme): Figure {
  const values = rows.flatMap(({ metric }) => metric.numbers.flatMap((side) => side?.values ?? []));
  const first = rows[0]?.metric;
  return comparisonFigure(
    names.map((name, place) => ({
      name: shortened(name),
      runs: rows.flatMap(({ metric }, at): ComparedRuns[] => {
        const side = metric.numbers[place];
        const ids = side?.run_ids && { runIds: side.run_ids };
        return side ? [{ at, median: side.median, values: side.values, flags: side.flags, ...ids }] : [];
      }),
    })),
    {
      // Labels would not fit beside the axis; they stand in the choice above.
      metricTitle: first?.title ?? "",
      scale: axisScale(first?.unit ?? "count", values),
      highest: Math.max(0, ...values),
      axis: {
        kind: "category",
        title: "",
        ticks: rows.map(({ name }, at) => ({ at, text: shortened(name) })),
      },
      scheme,
    },
  );
}

/** One line for each side of each row, except for the baseline. */
export function shiftsOf(rows: readonly MetricRow[], names: readonly string[]): Shift[] {
  return rows.flatMap(({ name, cells, metric }, at) =>
    metric.verdicts.flatMap((verdict, place): Shift[] => {
      if (!verdict) return [];
      const side = shortened(names[place] ?? "");
      const line = rows.length > 1 ? `${at + 1}: ${side}, ${shortened(name)}` : side;
      return [
        {
          name: names === PAIR ? shortened(name) : line,
          ratio: verdict.ratio ?? verdict.median_ratio,
          low: verdict.low,
          high: verdict.high,
          isWeak: verdict.ratio === null || !cells[place]?.is_alike,
          words: verdict.words,
        },
      ];
    }),
  );
}
