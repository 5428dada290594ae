/** Per-second curves of a run as panels on a common time axis. */

import { t } from "@lingui/core/macro";
import type { Annotation, Data, Layout, Shape } from "plotly.js";
import type { Scale, Unit } from "@/lib/units";
import { axisScale, axisTitle, baseLayout, type Figure, type Scheme, traceColour } from "./figure";

type Values = readonly (number | null)[];

/** Values in the base unit of the counter, `stepSeconds` apart; null where no sample was taken. */
export interface CurveLine {
  readonly name: string;
  /** Seconds since the load began. */
  readonly firstSecond: number;
  /** Lines of the same kind share a colour and one legend entry. */
  readonly kind: number;
  readonly stepSeconds: number;
  readonly values: Values;
  /** Minimum and maximum behind each mean; null for single values. */
  readonly range: { readonly low: Values; readonly high: Values } | null;
}

export interface CurvePanel {
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly CurveLine[];
}

/** Start of a step. */
export interface StepMark {
  readonly second: number;
  readonly name: string;
}

const PANEL_PX = 150;
/** Space above a panel for title and legend, which takes two rows on a phone. */
const HEAD_PX = 76;
const FOOT_PX = 48;
/** Distance of the title from its panel. */
const TITLE_SHIFTS_PX = [4, 24, 56];
const MOST_MARKS = 60;
/** Minimum distance of step names as a share of the time axis. */
const NEAREST_NAMES = 0.15;

/** Number of values up to which dots are drawn. */
const MOST_DOTS = 60;

/** Unit from the end of a counter's name: `write_bytes_per_second`, `cpu_user_ratio`. */
export function counterUnit(counter: string): Unit {
  if (counter.endsWith("bytes_per_second")) return "bytes_per_second";
  if (counter.endsWith("_per_second")) return "operations_per_second";
  if (counter.endsWith("_seconds")) return "seconds";
  if (counter.endsWith("bytes")) return "bytes";
  return counter.endsWith("_ratio") ? "ratio" : "count";
}

/** `write_bytes_per_second` becomes “write”, `cpu_user_ratio` becomes “cpu user”. */
export function counterTitle(counter: string): string {
  const title = counter
    .replace(/_?(bytes_per_second|per_second|bytes|seconds|ratio)$/, "")
    .replaceAll("_", " ");
  return title || counter.replaceAll("_", " ");
}

/** Height in pixels. */
export function curvesHeight(panels: number): number {
  return panels * (PANEL_PX + HEAD_PX) + FOOT_PX;
}

export function curvesFigure(
  panels: readonly CurvePanel[],
  marks: readonly StepMark[],
  scheme: Scheme,
): Figure {
  const layout = baseLayout(scheme);
  const drawn = panels.map((panel, index) => drawnPanel(panel, index, panels.length, scheme));
  const names = stepNames(marks, lastSecond(panels), layout);
  return {
    data: drawn.flatMap(({ data }) => data),
    layout: {
      ...layout,
      margin: { ...layout.margin, t: HEAD_PX, b: FOOT_PX },
      showlegend: true,
      ...Object.assign({}, ...drawn.map((panel) => panel.layout)),
      xaxis: {
        ...layout.xaxis,
        anchor: axisOf(panels.length - 1),
        title: { text: t`Time since the start (s)` },
      },
      shapes:
        marks.length > 1 && marks.length <= MOST_MARKS ? marks.map((mark) => stepLine(mark, layout)) : [],
      annotations: [...drawn.map((panel) => panel.title), ...names],
    },
  };
}

function axisOf(index: number): "y" | `y${number}` {
  return index === 0 ? "y" : `y${index + 1}`;
}

function drawnPanel({ title, unit, lines }: CurvePanel, index: number, count: number, scheme: Scheme) {
  const layout = baseLayout(scheme);
  const high = lines.flatMap((line) => (line.range?.high ?? line.values).map((value) => value ?? 0));
  const scale = axisScale(unit, high);
  const number = index === 0 ? "" : String(index + 1);
  const each = 1 / (count * (PANEL_PX + HEAD_PX) - HEAD_PX);
  const top = 1 - index * (PANEL_PX + HEAD_PX) * each;
  const place = {
    yaxis: axisOf(index),
    legend: `legend${number}`,
    // The panel title is an annotation, so the export reads the unit here.
    meta: axisTitle(title, scale),
  };
  const kinds = new Set(lines.map(({ kind }) => kind)).size;
  const titleShift = TITLE_SHIFTS_PX[Math.min(kinds, TITLE_SHIFTS_PX.length) - 1] ?? 4;
  const seen = new Set<number>();
  const data = lines.flatMap((line) => {
    const colour = traceColour(scheme, line.kind);
    const showlegend = lines.length > 1 && !seen.has(line.kind);
    seen.add(line.kind);
    const traces = [...bandTraces(line, colour, scale), { ...curveTrace(line, colour, scale), showlegend }];
    return traces.map((trace) => ({ ...trace, ...place }) as Data);
  });
  return {
    data,
    title: {
      text: `<b>${axisTitle(title, scale)}</b>`,
      ...{ showarrow: false, xref: "paper", yref: "paper", x: 0, xanchor: "left" },
      ...{ y: top, yanchor: "bottom", yshift: titleShift },
    } as const,
    layout: {
      [`yaxis${number}`]: {
        ...layout.yaxis,
        domain: [Math.max(0, top - PANEL_PX * each), top],
        rangemode: "tozero",
      },
      [`legend${number}`]: {
        ...layout.legend,
        y: top + titleShift * each,
        yanchor: "top",
        font: { size: 12 },
      },
    },
  };
}

function lastSecond(panels: readonly CurvePanel[]): number {
  const ends = panels.flatMap(({ lines }) =>
    lines.map(({ firstSecond, stepSeconds, values }) => firstSecond + stepSeconds * values.length),
  );
  return Math.max(1, ...ends);
}

function stepLine({ second }: StepMark, { font }: Partial<Layout>): Partial<Shape> {
  const line = { color: font?.color ?? "#888888", width: 1, dash: "dot" } as const;
  return { type: "line", xref: "x", yref: "paper", x0: second, x1: second, y0: 0, y1: 1, opacity: 0.5, line };
}

/** Step names are in the top panel; names too close to the previous one are left out. */
function stepNames(marks: readonly StepMark[], seconds: number, { font }: Partial<Layout>) {
  const named: StepMark[] = [];
  for (const mark of marks.length > 1 && marks.length <= MOST_MARKS ? marks : []) {
    const before = named.at(-1);
    if (!before || mark.second - before.second >= NEAREST_NAMES * seconds) named.push(mark);
  }
  return named.map(({ second, name }) => ({
    ...{ text: name, x: second, xref: "x", xanchor: "left", xshift: 2, textangle: 0 },
    ...{ y: 1, yref: "paper", yanchor: "top", showarrow: false, opacity: 0.8, font: { ...font, size: 11 } },
  })) as Annotation[];
}

function curveTrace(line: CurveLine, colour: string, scale: Scale): Partial<Data> {
  const isDot = line.values.map((_, index) => line.values.length <= MOST_DOTS || isAlone(line.values, index));
  return {
    type: "scatter",
    mode: isDot.includes(true) ? "lines+markers" : "lines",
    name: line.name,
    legendgroup: String(line.kind),
    x: seconds(line),
    y: scaled(line.values, scale),
    line: { color: colour, width: 1.5 },
    marker: { color: colour, size: isDot.map((shown) => (shown ? 5 : 0)) },
    hovertemplate: `%{y:,.3~r} ${scale.name} after %{x:.0f} s<extra>${line.name}</extra>`,
  };
}

/** A value between gaps has no line and needs a dot. */
function isAlone(values: Values, index: number): boolean {
  return (
    values[index] !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
  );
}

/** The range keeps stalls visible that are shorter than a mean. */
function bandTraces({ range, ...line }: CurveLine, colour: string, scale: Scale): Data[] {
  if (!range) return [];
  const edge = {
    type: "scatter",
    mode: "lines",
    x: seconds(line),
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  } as const;
  return [
    { ...edge, name: t`${line.name}, low`, y: scaled(range.low, scale) },
    {
      ...edge,
      name: t`${line.name}, high`,
      y: scaled(range.high, scale),
      fill: "tonexty",
      fillcolor: `${colour}40`,
    },
  ];
}

function seconds({
  values,
  firstSecond,
  stepSeconds,
}: Pick<CurveLine, "values" | "firstSecond" | "stepSeconds">): number[] {
  return values.map((_, index) => firstSecond + index * stepSeconds);
}

function scaled(values: Values, { divisor }: Scale): (number | null)[] {
  return values.map((value) => (value === null ? null : value / divisor));
}
