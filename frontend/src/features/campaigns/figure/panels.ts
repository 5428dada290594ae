import { t } from "@lingui/core/macro";
import { optionValue, type TitleOf, type Values } from "@/lib/options";
import { spanOf } from "@/lib/scaling";
import { formatRoughPercent } from "@/lib/units";
import { type ComparedAxis, type ComparedGroup, comparisonFigure, type Scaling } from "@/plots/comparison";
import { axisScale, type Figure, MAX_TRACES, runsInWords, type Scheme } from "@/plots/figure";
import { ratioFigure, ratioSpan, type SizeMap, surfaceFigure } from "@/plots/map";
import { type PartedBar, partsFigure } from "@/plots/parts";
import { isOfMany, type Layout, type Measure, STACKED } from "./choice";
import {
  type FigureRow,
  groupRows,
  isNumeric,
  nameRow,
  type RunOrder,
  textOf,
  titleOfDimension,
  valuesOf,
} from "./rows";
import { idealShares, idealsOf } from "./scaling";

export interface Panel {
  /** Values shared by the whole panel; empty with a single panel. */
  readonly title: string;
  readonly figure: Figure;
}

export interface Panels {
  readonly panels: readonly Panel[];
  /** Number of panels or colours left out. */
  readonly undrawn: number;
}

export interface Look {
  readonly measure: Measure;
  readonly titleOf: TitleOf;
  readonly order: RunOrder;
  readonly scheme: Scheme;
}

const MOST_PANELS = 6;

export function drawPanels(layout: Layout, look: Look): Panels {
  const split = layout.split === undefined ? [] : [layout.split];
  const groups = groupRows(layout.rows, split);
  if (layout.kind === "ratio") return ratioPanels(groups, layout, look);
  const drawn = groups.slice(0, MOST_PANELS);
  const highest = highestOf(drawn.flat());
  const panels = drawn.map((rows) => ({
    title: rows[0] && split.length > 0 ? nameRow(rows[0], split, look.titleOf) : "",
    figure: drawOne(rows, layout, look, highest),
  }));
  const colours = isOfMany(layout.kind) ? Math.max(...groups.map((rows) => seriesIn(rows, layout))) : 0;
  return { panels, undrawn: groups.length - drawn.length + Math.max(0, colours - MAX_TRACES) };
}

function seriesIn(rows: readonly FigureRow[], { series }: Layout): number {
  return groupRows(rows, series).length;
}

function highestOf(rows: readonly FigureRow[]): number {
  return rows.reduce((most, { measured }) => Math.max(most, measured.high), 0);
}

function drawOne(rows: readonly FigureRow[], layout: Layout, look: Look, highest: number): Figure {
  const scale = axisScale(look.measure.unit, [highest]);
  const metricTitle = look.measure.title;
  if (layout.kind === "map") {
    const lowest = layout.rows.reduce((least, { measured }) => Math.min(least, measured.median), highest);
    return surfaceFigure(mapOf(rows, layout), { ...mapTitles(layout, look), scale, lowest, highest });
  }
  if (layout.kind === "parts") return partsOf(rows, layout, look);
  return comparisonFigure(groupsOf(rows, layout, look), {
    metricTitle,
    scale,
    highest,
    axis: axisOf(layout, look),
    scheme: look.scheme,
    scaling: layout.kind === "scaling" ? scalingOf(rows, layout) : undefined,
  });
}

/** Ideal lines of a panel, with the span of all panels. */
function scalingOf(rows: readonly FigureRow[], { rows: all, dimensions }: Layout): Scaling {
  const reached = all.flatMap(({ measured: { low, high } }) => [low, high]);
  const ends = idealsOf(all, dimensions).map(({ to }) => to.value);
  return { ideals: idealsOf(rows, dimensions), span: spanOf([...reached, ...ends]) };
}

/** All panels share the axis, so that they can be compared. */
function axisOf({ kind, axes: [x = "target"], rows }: Layout, { titleOf, order }: Look): ComparedAxis {
  const title = titleOfDimension(x, titleOf);
  if (x === "run")
    return { kind: "order", title, ticks: [...order.values()].map((at) => ({ at, text: "" })) };
  const values = valuesOf(rows, x);
  const isLine = kind === "scaling" || (isNumeric(rows, x) && values.length > 2);
  const at = (value: unknown, index: number) => (isLine ? Number(value) : index);
  return {
    kind: isLine ? "number" : "category",
    title,
    ticks: values.map((value, index) => ({ at: at(value, index), text: optionValue(x, value) })),
  };
}

function groupsOf(rows: readonly FigureRow[], layout: Layout, look: Look): ComparedGroup[] {
  const { ticks } = axisOf(layout, look);
  const [x = "target"] = layout.axes;
  const shares = layout.kind === "scaling" ? idealShares(layout.rows, layout.dimensions) : undefined;
  return groupRows(rows, layout.series)
    .slice(0, MAX_TRACES)
    .map((group) => ({
      name: group[0] ? nameRow(group[0], layout.series, look.titleOf) : "",
      runs: group.flatMap((row) => {
        if (x === "run") return inSequence(row, look.order);
        const at = ticks.find(({ text }) => text === textOf(row, x))?.at ?? 0;
        const { median, values, run_ids: runIds, flags } = row.measured;
        const share = shares?.get(row);
        const note = share === undefined ? "" : t`${formatRoughPercent(share)} % of ideal`;
        return [{ at, median, values, runIds, flags, note }];
      }),
    }));
}

function inSequence({ measured: { values, run_ids, flags } }: FigureRow, order: RunOrder) {
  return values.map((value, index) => {
    const runId = run_ids[index] ?? 0;
    return { at: order.get(runId) ?? 0, median: value, values: [value], runIds: [runId], flags };
  });
}

function mapTitles({ axes: [x = "", y = ""] }: Layout, { titleOf, scheme }: Look) {
  return { xTitle: titleOfDimension(x, titleOf), yTitle: titleOfDimension(y, titleOf), scheme };
}

function mapOf(rows: readonly FigureRow[], { axes: [x = "", y = ""], rows: all }: Layout): SizeMap {
  const [columns, lines] = [valuesOf(all, x), valuesOf(all, y)];
  const at = new Map(rows.map((row) => [`${row.parts[x]} ${row.parts[y]}`, row.measured]));
  const fields = lines.map((line) => columns.map((column) => at.get(`${column} ${line}`)));
  return {
    xNames: columns.map((value) => optionValue(x, value)),
    yNames: lines.map((value) => optionValue(y, value)),
    values: fields.map((row) => row.map((measured) => measured?.median ?? null)),
    runs: fields.map((row) => row.map((measured) => runsInWords(measured?.n ?? 0))),
    gaps: lines.map((line, at) =>
      columns.map((column, place) => gapOf(fields[at]?.[place], { [x]: column, [y]: line })),
    ),
  };
}

/** A record cannot be larger than its file. Every other empty cell of a map was not measured. */
function gapOf(measured: unknown, { record_size_bytes: record, file_size_bytes: file }: Values): string {
  if (measured) return "";
  const isImpossible = typeof record === "number" && typeof file === "number" && record > file;
  return isImpossible ? "" : t`not measured`;
}

/** A single run gives no ratio. */
function ratioPanels(groups: readonly FigureRow[][], layout: Layout, look: Look): Panels {
  const { split = "", against } = layout;
  const several = (rows: readonly FigureRow[]) => rows.filter(({ measured }) => measured.n > 1);
  const isBase = (rows: readonly FigureRow[]) => rows[0] !== undefined && textOf(rows[0], split) === against;
  const base = mapOf(several(groups.find(isBase) ?? []), layout);
  const others = groups.filter((rows) => !isBase(rows));
  const drawn = others.slice(0, MOST_PANELS);
  const maps = drawn.map((rows) => divide(mapOf(several(rows), layout), base));
  const span = ratioSpan(maps);
  const panels = maps.map((map, index) => ({
    title: `${drawn[index]?.[0] ? textOf(drawn[index][0], split) : ""} ÷ ${against}`,
    figure: ratioFigure(map, { ...mapTitles(layout, look), span }),
  }));
  return { panels, undrawn: others.length - drawn.length };
}

function divide(one: SizeMap, base: SizeMap): SizeMap {
  const ratio = (value: number | null, line: number, column: number) => {
    const below = base.values[line]?.[column] ?? null;
    return value === null || !below ? null : value / below;
  };
  return {
    ...one,
    values: one.values.map((row, line) => row.map((value, column) => ratio(value, line, column))),
    runs: one.runs.map((row, line) =>
      row.map((runs, column) => t`${runs} by ${base.runs[line]?.[column] ?? ""}`),
    ),
    gaps: one.gaps.map((row, line) => row.map((gap, column) => gap || (base.gaps[line]?.[column] ?? ""))),
  };
}

/** Group by the values of the first of `names`, then of the next. */
function inOrder(groups: FigureRow[][], names: readonly string[], rows: readonly FigureRow[]): FigureRow[][] {
  const places = names.map((name) => textsInOrder(rows, name));
  const placeOf = (group: readonly FigureRow[], index: number) =>
    group[0] ? (places[index]?.indexOf(textOf(group[0], names[index] ?? "")) ?? 0) : 0;
  const differ = (a: FigureRow[], b: FigureRow[]) =>
    names.map((_, index) => placeOf(a, index) - placeOf(b, index)).find((difference) => difference !== 0) ??
    0;
  return groups.sort(differ);
}

function textsInOrder(rows: readonly FigureRow[], name: string): string[] {
  return valuesOf(rows, name).map((value) => optionValue(name, value));
}

function partsOf(rows: readonly FigureRow[], { axes }: Layout, { measure, titleOf, scheme }: Look): Figure {
  const bars = inOrder(groupRows(rows, axes), axes, rows).map((group): PartedBar => {
    const medians = group.map(({ parts, measured }) => [String(parts.part), measured.median] as const);
    const whole = group.find(({ parts }) => parts.part === STACKED.whole);
    const names = axes.map((axis) => (group[0] ? textOf(group[0], axis) : ""));
    return {
      group: names.length > 1 ? names[0] : undefined,
      name: names.at(-1) ?? "",
      parts: Object.fromEntries(medians),
      wholes: whole?.measured.values ?? [],
    };
  });
  return partsFigure(bars, {
    metricTitle: "Time",
    xTitle: axes.map((axis) => titleOfDimension(axis, titleOf)).join(", "),
    ...STACKED,
    scale: axisScale(measure.unit, [highestOf(rows)]),
    scheme,
  });
}
