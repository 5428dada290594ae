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
} from "@/api/types";
import { describeValues, optionValue, plainTitle, type TitleOf, type Values } from "@/lib/options";
import { type ComparedRuns, comparisonFigure } from "@/plots/comparison";
import { axisScale, type Figure, type Scheme } from "@/plots/figure";
import type { Shift } from "@/plots/shifts";

export type Cell = SideOfRow & Pick<ComparedCell, "workload" | "options">;

export interface Row extends Omit<SidesRow, "cells"> {
  /** What tells it from the others. */
  readonly name: string;
  readonly cells: readonly (Cell | null)[];
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
const MOST_DRAWN = 12;

/** The option that a difference is about, without what says that it is one. */
export function optionOf(name: string): string {
  return name.startsWith(OPTION) ? name.slice(OPTION.length) : name;
}

/** What cells are compared by, as a person says it. */
export function titleOfDimension(name: string, titleOf: TitleOf): string {
  if (name.startsWith(OPTION)) return titleOf(optionOf(name));
  return plainTitle(name === "node" ? "nodes" : name);
}

/** A value of a dimension, or of something else that sides are unlike in. */
export function textOfPart(name: string, value: unknown): string {
  return optionValue(optionOf(name), value);
}

/** A pair as a row of two sides, of which A is the baseline. */
export function pairRow({ a, b, differences, is_alike, metrics }: ComparedPair, name: string): Row {
  const cell = (of: ComparedCell, isAlike: boolean): Cell => ({
    ...{ ...of, campaign_name: "", cluster_name: "", is_alike: isAlike },
  });
  return {
    ...{ name, workload: a.workload, options: a.options, cells: [cell(a, true), cell(b, is_alike)] },
    differences: differences.map((unlike) => ({ name: unlike.name, values: [unlike.a, unlike.b] })),
    metrics: metrics.map((metric) => ({
      ...metric,
      numbers: [numbersOf(metric, "a"), numbersOf(metric, "b")],
      verdicts: [null, { ...metric, runs_missing: 0 }],
    })),
  };
}

/** Runs of two campaigns are not known by number. */
function numbersOf(metric: ComparedMetric, side: "a" | "b"): SideNumbers {
  const [n, median, values] = [metric[`n_${side}`], metric[`median_${side}`], metric[`values_${side}`]];
  return { n, median, values, run_ids: [], flags: metric[`flags_${side}`], modes: metric[`modes_${side}`] };
}

/** A row of many sides, each cell with options of its own. */
export function sidesRow({ by, sides }: SidesComparison, row: SidesRow, name: string): Row {
  const unlike = [{ name: by ?? "", values: sides }, ...row.differences].filter(({ name: what }) =>
    what.startsWith(OPTION),
  );
  const optionsAt = (place: number): Values =>
    Object.fromEntries(unlike.map(({ name: what, values }) => [optionOf(what), values[place]]));
  const cells = row.cells.map(
    (cell, place) =>
      cell && { ...cell, workload: row.workload, options: { ...row.options, ...optionsAt(place) } },
  );
  return { ...row, name, cells };
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

type NumberNames = Pick<SidesMetric, "metric" | "title" | "labels" | "target_name">;

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

/** A row with one of its numbers. */
export interface MetricRow extends Row {
  readonly metric: SidesMetric;
}

export interface ChosenNumber {
  readonly key: string;
  readonly title: string;
  /** Titles of all numbers of any row, by key, in the order in which they come. */
  readonly titles: ReadonlyMap<string, string>;
  /** The rows that have it, and as many of them as stay readable in a figure. */
  readonly rows: readonly MetricRow[];
  readonly drawn: readonly MetricRow[];
}

/** The number with this key, or the first. */
export function chooseNumber({ rows, names }: Compared, wanted: string, titleOf: TitleOf): ChosenNumber {
  const titles = new Map<string, string>();
  for (const metric of rows.flatMap(({ metrics }) => metrics))
    titles.set(metricKey(metric), titles.get(metricKey(metric)) ?? titleOfMetric(metric, titleOf));
  const [first = ""] = titles.keys();
  const key = titles.has(wanted) ? wanted : first;
  const having = rows.flatMap((row) => {
    const metric = row.metrics.find((one) => metricKey(one) === key);
    return metric ? [{ ...row, metric }] : [];
  });
  const drawn = having.slice(0, names.length > 2 ? MOST_DRAWN : 2 * MOST_DRAWN);
  return { key, title: titles.get(key) ?? "", titles, rows: having, drawn };
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
        return side ? [{ at, ...side, runIds: side.run_ids }] : [];
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
  const lineOf = (name: string, side: string, at: number) =>
    names === PAIR ? name : rows.length > 1 ? `${at + 1}: ${side}, ${name}` : side;
  return rows.flatMap(({ name, cells, metric }, at) =>
    metric.verdicts.flatMap((verdict, place): Shift[] => {
      if (!verdict) return [];
      const isWeak = verdict.ratio === null || !cells[place]?.is_alike;
      const ratio = verdict.ratio ?? verdict.median_ratio;
      const line = lineOf(shortened(name), shortened(names[place] ?? ""), at);
      return [{ ...verdict, name: line, ratio, isWeak }];
    }),
  );
}
