/** Common form of comparisons of two campaigns and of several sides: rows with one cell per side. */

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
import { cautionsOf } from "@/components/flagWords";
import type { Interval } from "@/components/interval";
import { describeValues, optionValue, plainTitle, type TitleOf, type Values } from "@/lib/options";
import { type ComparedRuns, comparisonFigure } from "@/plots/comparison";
import { axisScale, type Figure, type Scheme } from "@/plots/figure";
import type { Shift } from "@/plots/shifts";

export type Cell = SideOfRow & Pick<ComparedCell, "workload" | "options">;

export interface Row extends Omit<SidesRow, "cells"> {
  /** Distinguishes the row from the others. */
  readonly name: string;
  /** The name without the workload; may be empty. */
  readonly distinction: string;
  /** Rows have several workloads. */
  readonly isOfMany: boolean;
  readonly cells: readonly (Cell | null)[];
}

export interface Compared {
  readonly names: readonly string[];
  /** Compared dimension of the sides; undefined for two campaigns. */
  readonly by?: string | null;
  /** Index of the baseline. */
  readonly against: number;
  readonly rows: readonly Row[];
}

export const PAIR = ["A", "B"];
const OPTION = "options.";
const LONGEST_NAME = 26;
const MOST_DRAWN = 12;

/** Option of a difference, without its prefix. */
export function optionOf(name: string): string {
  return name.startsWith(OPTION) ? name.slice(OPTION.length) : name;
}

export function titleOfDimension(name: string, titleOf: TitleOf): string {
  if (name.startsWith(OPTION)) return titleOf(optionOf(name));
  return plainTitle(name === "node" ? "nodes" : name);
}

/** Text of a value of a dimension or difference. */
export function textOfPart(name: string, value: unknown): string {
  return optionValue(optionOf(name), value);
}

export type RowName = Pick<Row, "name" | "distinction" | "isOfMany">;

/** A pair as a row of two sides; A is the baseline. */
export function pairRow({ a, b, differences, is_alike, metrics }: ComparedPair, named: RowName): Row {
  const cell = (of: ComparedCell, isAlike: boolean): Cell => ({
    ...{ ...of, campaign_name: "", cluster_name: "", is_alike: isAlike },
  });
  return {
    ...{ ...named, workload: a.workload, options: a.options, cells: [cell(a, true), cell(b, is_alike)] },
    differences: differences.map((unlike) => ({ name: unlike.name, values: [unlike.a, unlike.b] })),
    metrics: metrics.map((metric) => ({
      ...metric,
      numbers: [numbersOf(metric, "a"), numbersOf(metric, "b")],
      verdicts: [null, { ...metric, runs_missing: 0 }],
    })),
  };
}

/** The API does not list run ids for two campaigns. */
function numbersOf(metric: ComparedMetric, side: "a" | "b"): SideNumbers {
  const [n, median, values] = [metric[`n_${side}`], metric[`median_${side}`], metric[`values_${side}`]];
  return { n, median, values, run_ids: [], flags: metric[`flags_${side}`], modes: metric[`modes_${side}`] };
}

export function sidesRow({ by, sides }: SidesComparison, row: SidesRow, named: RowName): Row {
  const unlike = [{ name: by ?? "", values: sides }, ...row.differences].filter(({ name: what }) =>
    what.startsWith(OPTION),
  );
  const optionsAt = (place: number): Values =>
    Object.fromEntries(unlike.map(({ name: what, values }) => [optionOf(what), values[place]]));
  const cells = row.cells.map(
    (cell, place) =>
      cell && { ...cell, workload: row.workload, options: { ...row.options, ...optionsAt(place) } },
  );
  return { ...row, ...named, cells };
}

/** Names of the sides. Selected cells are named by campaign and number. */
export function sideNames({ by, sides, rows }: SidesComparison): string[] {
  if (by !== "cell") return sides.map((value) => textOfPart(by ?? "", value));
  return sides.map((id, place) => {
    const cell = rows[0]?.cells[place];
    if (!cell) return t`configuration ${String(id)}`;
    const where = cell.target_names.join("+") || cell.node_names.join("+");
    return t`${cell.campaign_name} (${cell.campaign_id}), configuration ${cell.ordinal}, ${where}`;
  });
}

/** Where each row ran, as far as its cells agree and the rows differ. */
export function placesOf(rows: readonly SidesRow[], by: string | null): string[] {
  const textParts = rows.map(({ cells }) => {
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
  const varies = [0, 1, 2].filter((part) => new Set(textParts.map((parts) => parts[part])).size > 1);
  return textParts.map((parts) => varies.flatMap((part) => parts[part] || []).join(", "));
}

type NumberNames = Pick<SidesMetric, "metric" | "title" | "labels" | "target_name">;

/** Key of a metric within a row; part of the address. */
export function metricKey({ metric, target_name, labels }: NumberNames): string {
  const textParts = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [metric, ...textParts, ...(target_name ? [target_name] : [])].join(" ");
}

export function titleOfMetric({ title, labels, target_name }: NumberNames, titleOf: TitleOf): string {
  return [title, describeValues(labels, titleOf), target_name && t`on ${target_name}`]
    .filter(Boolean)
    .join(", ");
}

export interface MetricRow extends Row {
  readonly metric: SidesMetric;
}

export interface ChosenNumber {
  readonly key: string;
  readonly title: string;
  /** Titles of the metrics of all rows by key, in order of appearance. */
  readonly titles: ReadonlyMap<string, string>;
  /** Rows that have the metric, limited to what a figure can show. */
  readonly rows: readonly MetricRow[];
  readonly drawn: readonly MetricRow[];
}

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

/** Shortens names to fit next to a figure. The leading number keeps them unique. */
export function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

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
      // Axis labels would not fit; the control above shows them.
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

/** A ratio without interval, of different setups, or with an interval that lacks the scatter between days. */
export function isWeakVerdict(
  { ratio, basis }: SideVerdict,
  cell: Row["cells"][number] | undefined,
): boolean {
  return ratio === null || basis === "one_day" || !cell?.is_alike;
}

export function shiftsOf(rows: readonly MetricRow[], names: readonly string[]): Shift[] {
  const lineOf = (name: string, side: string, at: number) =>
    names === PAIR ? name : rows.length > 1 ? `${at + 1}: ${side}, ${name}` : side;
  return rows.flatMap(({ name, cells, metric }, at) =>
    metric.verdicts.flatMap((verdict, place): Shift[] => {
      if (!verdict) return [];
      const isWeak = isWeakVerdict(verdict, cells[place]);
      const ratio = verdict.ratio ?? verdict.median_ratio;
      const line = lineOf(shortened(name), shortened(names[place] ?? ""), at);
      return [{ ...verdict, name: line, ratio, isWeak }];
    }),
  );
}

export interface Judged {
  readonly verdict: SideVerdict;
  readonly isGrey: boolean;
  readonly isAlike: boolean;
  /** Significantly higher or lower. */
  readonly isJudged: boolean;
  /** Neither value has a flag that is a caution. */
  readonly isTrusted: boolean;
  readonly direction: "better" | "worse" | null;
}

/** The verdict on a side and what it is worth; null for the baseline and without a value. */
export function judgedOf({ cells, metric }: MetricRow, place: number, against: number): Judged | null {
  const [verdict, isAlike] = [metric.verdicts[place], cells[place]?.is_alike === true];
  if (!verdict) return null;
  const both = [metric.numbers[place], metric.numbers[against]];
  const direction = metric.better === verdict.verdict ? "better" : "worse";
  return {
    ...{ verdict, isAlike, isGrey: isWeakVerdict(verdict, cells[place]) },
    isJudged: isAlike && (verdict.verdict === "higher" || verdict.verdict === "lower"),
    isTrusted: both.every((one) => !one || cautionsOf(one.flags).length === 0),
    direction: metric.better === "neither" ? null : direction,
  };
}

/** The ratio with its interval, or the ratio of medians; null without a ratio. */
export function intervalOf({ ratio, low, high, median_ratio }: SideVerdict): Interval | null {
  const shown = ratio ?? median_ratio;
  return shown === null ? null : { ratio: shown, low: ratio && low, high: ratio && high };
}
