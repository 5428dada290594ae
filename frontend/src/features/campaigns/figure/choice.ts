/** Layout of a figure: choices in the address, completed by defaults that show most. */

import { t } from "@lingui/core/macro";
import type { CampaignMeasures } from "@/api/types";
import { RATES } from "@/lib/scaling";
import type { Unit } from "@/lib/units";
import { counterTitle, counterUnit } from "@/plots/curve";
import { MAX_TRACES } from "@/plots/figure";
import { dimensionsOf, type FigureRow, groupRows, isNumeric, textOf, valuesOf } from "./rows";
import { canScale, hasGrowingNodes, scaledRows, scalingAxis, TOTALS } from "./scaling";

export const FIGURE_KINDS = ["points", "map", "ratio", "parts", "scaling"] as const;
export type FigureKind = (typeof FIGURE_KINDS)[number];

export interface FigureView {
  readonly workload?: string | undefined;
  readonly show?: string | undefined;
  readonly beside?: string | undefined;
  readonly kind?: FigureKind | undefined;
  /** Names of dimensions; `run` is the order of runs. */
  readonly x?: string | undefined;
  readonly split?: string | undefined;
  /** Baseline: a value of `split` for `ratio`, otherwise a place for the table. */
  readonly against?: string | undefined;
  /** Dimensions filtered to one value, as text. */
  readonly only?: Readonly<Record<string, string>> | undefined;
}

/** A metric, or the mean of a counter's curve. Counters belong to no workload. */
export interface Measure {
  readonly key: string;
  /** Short title for an axis, cut at a colon or comma. */
  readonly title: string;
  /** Definition, if the title is not enough. */
  readonly description: string;
  readonly unit: Unit;
  readonly query: { readonly metric: string } | { readonly counter: string };
}

const MEAN = "mean:";

export function measuresOf({ metrics, counters }: CampaignMeasures, workload: string): Measure[] {
  return [
    ...metrics
      .filter((metric) => metric.workload === workload)
      .map(({ metric, title, description, unit }) => ({
        key: metric,
        title,
        description,
        unit,
        query: { metric },
      })),
    ...counters.map((counter) => ({
      key: `${MEAN}${counter}`,
      title: t`Mean ${counterTitle(counter)}`,
      description: "",
      unit: counterUnit(counter),
      query: { counter },
    })),
  ];
}

/** Choose two measures: writers with their total, loss with the rate, otherwise a metric with a higher-is-better direction. */
export function chooseMeasures(measures: CampaignMeasures, workload: string, view: FigureView) {
  const all = measuresOf(measures, workload);
  const [show, beside] = usualMeasures(measures, workload);
  const shown = all.find(({ key }) => key === (view.show ?? show)) ?? all[0];
  const second = view.beside ?? (view.show === undefined ? beside : undefined);
  return { all, shown, beside: all.find(({ key }) => key === second && key !== shown?.key) };
}

function usualMeasures({ metrics }: CampaignMeasures, workload: string): [string | undefined, string?] {
  const own = metrics.filter((metric) => metric.workload === workload);
  const find = (name: string) => own.find(({ metric }) => metric === name);
  if (find("total_throughput") && find("throughput")?.labels.includes("writer"))
    return ["total_throughput", "throughput"];
  if (find("throughput") && find("loss_ratio")) return ["throughput", "loss_ratio"];
  return [(own.find(({ better }) => better === "higher") ?? own[0])?.metric];
}

export interface Base {
  readonly name: string;
  readonly text: string;
}

/** Assignment of dimensions to axes, panels and colours. */
export interface Layout {
  readonly kinds: readonly FigureKind[];
  readonly kind: FigureKind;
  readonly dimensions: readonly string[];
  /** One axis for points and bars, two for a heat map, up to two names for stacked parts. */
  readonly axes: readonly string[];
  readonly split: string | undefined;
  /** Dimensions shown as colours. */
  readonly series: readonly string[];
  readonly pins: Readonly<Record<string, string>>;
  readonly against: string | undefined;
  readonly base: Base | undefined;
  readonly rows: readonly FigureRow[];
  /** Includes rows that are filtered out. */
  readonly all: readonly FigureRow[];
}

const NUMBERS_FIRST = [
  "rate_bytes_per_second",
  "fill_percent",
  "file",
  "writers",
  "processes",
  "io_depth",
  "record_size_bytes",
  "file_size_bytes",
];
const PLACES_FIRST = ["variant", "target", "loaded", "node"];
const PARTS = ["user", "sys", "wait"];
export const STACKED = { whole: "real", parts: PARTS } as const;
const LONG_SERIES = 8;

/** Only rates scale, so `unit` is that of the rows' values. */
export function chooseLayout(given: readonly FigureRow[], view: FigureView, unit: Unit): Layout {
  const kinds = kindsFor(given, dimensionsOf(given), RATES.includes(unit));
  const kind = kinds.find((known) => known === view.kind) ?? kinds.at(-1) ?? "points";
  const all = kind === "scaling" ? scaledRows(given) : given;
  const dimensions = dimensionsOf(all);
  const axes = chooseAxes(kind, all, dimensions, view);
  const free = freeOf(kind, dimensions, axes);
  const split = chooseSplit(kind, all, axes, free, view);
  const rest = free.filter((name) => name !== split);
  const pins = choosePins(kind, all, rest, view);
  const rows = all.filter((row) => Object.entries(pins).every(([name, text]) => textOf(row, name) === text));
  const against = kind === "ratio" && split ? chooseAgainst(rows, split, view) : undefined;
  const hasBase = kind === "points" || kind === "parts";
  const base = hasBase ? chooseBase(rows, dimensions, view) : undefined;
  const series = rest.filter((name) => !(name in pins));
  return { kinds, kind, dimensions, axes, split, series, pins, against, base, rows, all: given };
}

/** Return the dimensions that can split a figure into panels or colours. */
export function freeOf(kind: FigureKind, dimensions: readonly string[], axes: readonly string[]): string[] {
  const taken = [...axes, ...(kind === "parts" ? ["part"] : []), ...(kind === "scaling" ? TOTALS : [])];
  return dimensions.filter((name) => !taken.includes(name));
}

/** Return the possible kinds, the most informative last. */
function kindsFor(
  rows: readonly FigureRow[],
  dimensions: readonly string[],
  areRates: boolean,
): FigureKind[] {
  const kinds = kindsOf(rows, dimensions);
  if (!areRates || !canScale(rows)) return kinds;
  return hasGrowingNodes(rows) ? [...kinds, "scaling"] : ["scaling", ...kinds];
}

function kindsOf(rows: readonly FigureRow[], dimensions: readonly string[]): FigureKind[] {
  if (dimensions.includes("part") && hasParts(rows)) return ["points", "parts"];
  const sizes = mapAxes(rows, dimensions);
  if (!sizes) return ["points"];
  return dimensions.length > sizes.length ? ["points", "ratio", "map"] : ["points", "map"];
}

function hasParts(rows: readonly FigureRow[]): boolean {
  const parts = valuesOf(rows, "part");
  return [STACKED.whole, ...STACKED.parts].every((part) => parts.includes(part));
}

/** Return two numeric dimensions with most pairs measured: record size as x, file size as y. */
function mapAxes(rows: readonly FigureRow[], dimensions: readonly string[]): [string, string] | undefined {
  const [x, y] = inOrderOf(NUMBERS_FIRST, dimensions).filter(
    (name) => isNumeric(rows, name) && valuesOf(rows, name).length > 2,
  );
  if (!x || !y) return undefined;
  const pairs = groupRows(rows, [x, y]).length;
  return pairs > (valuesOf(rows, x).length * valuesOf(rows, y).length) / 2 - 1 ? [x, y] : undefined;
}

function inOrderOf(order: readonly string[], names: readonly string[]): string[] {
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...names].sort((a, b) => place(a) - place(b));
}

function chooseAxes(
  kind: FigureKind,
  rows: readonly FigureRow[],
  dimensions: readonly string[],
  { x }: FigureView,
): string[] {
  if (kind === "map" || kind === "ratio") return mapAxes(rows, dimensions) ?? [];
  if (kind === "scaling") return [scalingAxis(rows)];
  if (kind === "parts") {
    const places = dimensions.filter((name) => name !== "part" && name !== "operation");
    const first = x && places.includes(x) ? [x] : [];
    const others = inOrderOf(PLACES_FIRST, places).filter((name) => name !== x);
    return [...first, ...others].slice(0, 2);
  }
  if (x === "run" || (x && dimensions.includes(x))) return [x];
  const number = inOrderOf(NUMBERS_FIRST, dimensions).find(
    (name) => isNumeric(rows, name) && valuesOf(rows, name).length > 2,
  );
  if (number) return [number];
  if (rows.some(({ measured }) => measured.n >= LONG_SERIES)) return ["run"];
  const others = dimensions.filter((name) => name !== "operation" && name !== "writer");
  return [inOrderOf(PLACES_FIRST, others)[0] ?? dimensions[0] ?? "target"];
}

/** Split into panels by operation if colours are taken or would be too many. */
function chooseSplit(
  kind: FigureKind,
  rows: readonly FigureRow[],
  axes: readonly string[],
  free: readonly string[],
  { split }: FigureView,
): string | undefined {
  if (split === "" && kind !== "ratio") return undefined;
  if (split && free.includes(split)) return split;
  if (kind === "parts") return undefined;
  const places = inOrderOf([...PLACES_FIRST, "operation"], free);
  if (kind === "map" || kind === "ratio") return places[0];
  const isCrowded = groupRows(rows, free).length > MAX_TRACES;
  if (free.includes("operation") && (free.length > 1 || isCrowded || axes[0] === "run")) return "operation";
  return isCrowded ? places[0] : undefined;
}

/** Points and lines use colours. */
export function isOfMany(kind: FigureKind): boolean {
  return kind === "points" || kind === "scaling";
}

/** Heat maps and stacked parts show one value of each other dimension. */
function choosePins(
  kind: FigureKind,
  rows: readonly FigureRow[],
  rest: readonly string[],
  { only = {} }: FigureView,
): Record<string, string> {
  const pins: Record<string, string> = {};
  for (const name of rest) {
    const texts = textsOf(rows, name);
    const wanted = texts.find((text) => text === only[name]) ?? (isOfMany(kind) ? undefined : texts[0]);
    if (wanted !== undefined) pins[name] = wanted;
  }
  return pins;
}

function chooseAgainst(rows: readonly FigureRow[], split: string, { against }: FigureView) {
  const texts = textsOf(rows, split);
  return texts.find((text) => text === against) ?? texts[0];
}

/** Return the dimension of places that a table can divide by a baseline. */
export function placeOf(dimensions: readonly string[]): string | undefined {
  return PLACES_FIRST.find((name) => dimensions.includes(name));
}

function chooseBase(
  rows: readonly FigureRow[],
  dimensions: readonly string[],
  { against }: FigureView,
): Base | undefined {
  const name = placeOf(dimensions);
  return name && against && textsOf(rows, name).includes(against) ? { name, text: against } : undefined;
}

export function textsOf(rows: readonly FigureRow[], name: string): string[] {
  return [...new Set(rows.map((row) => textOf(row, name)))];
}
