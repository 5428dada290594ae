/** Maps over two sizes: a surface seen from above, and the ratio of two of them. */

import { t } from "@lingui/core/macro";
import type { ColorScale, Data, Shape } from "plotly.js";
import { formatFactor, formatNumber, type Scale } from "@/lib/units";
import { baseLayout, type Figure, type Scheme } from "./figure";

/** One number a field, row by row from below; null where there is none. */
export interface SizeMap {
  readonly xNames: readonly string[];
  readonly yNames: readonly string[];
  readonly values: readonly (readonly (number | null)[])[];
  /** Runs behind each field, in words. */
  readonly runs: readonly (readonly string[])[];
  /** Why a field has no number, in words; empty where there is one, and where none can be. */
  readonly gaps: readonly (readonly string[])[];
}

interface MapOptions {
  readonly xTitle: string;
  readonly yTitle: string;
  readonly scheme: Scheme;
}

/** Least and greatest of all maps of a figure, so that equal colours mean equal numbers. */
export interface SurfaceOptions extends MapOptions {
  readonly scale: Scale;
  readonly lowest: number;
  readonly highest: number;
}

const MOST_WRITTEN_FIELDS = 150;
const LEAST_SPAN = Math.log2(1.1);

/** From the ground to a strong colour of one hue: order is seen by lightness alone. */
export const HUE: Readonly<Record<Scheme, ColorScale>> = {
  light: [
    [0, "#f2f8f9"],
    [0.5, "#6fb3c2"],
    [1, "#075264"],
  ],
  dark: [
    [0, "#14262b"],
    [0.5, "#2b7385"],
    [1, "#a9e4f0"],
  ],
};
/** Less, equal and more, told apart by colour-blind readers too. */
export const DIVERGING: Readonly<Record<Scheme, ColorScale>> = {
  light: [
    [0, "#b8450a"],
    [0.5, "#f7f7f7"],
    [1, "#0b7289"],
  ],
  dark: [
    [0, "#f0925c"],
    [0.5, "#26282b"],
    [1, "#45b2c9"],
  ],
};

export function surfaceFigure(map: SizeMap, options: SurfaceOptions): Figure {
  const { divisor, name } = options.scale;
  const scaled = map.values.map((row) => row.map((value) => value && value / divisor));
  return mapFigure(map, options, {
    z: scaled,
    zmin: options.lowest / divisor,
    zmax: options.highest / divisor,
    colorscale: HUE[options.scheme],
    colorbar: { title: { text: name } },
    text: scaled.map((row) => row.map((value) => (value === null ? "" : formatNumber(value)))),
    unit: ` ${name}`,
  });
}

/** Of ratios; a field of half has the strength of one of twice, since the colour follows the logarithm. */
export function ratioFigure(map: SizeMap, options: MapOptions & { readonly span: number }): Figure {
  const reach = Math.max(LEAST_SPAN, Math.log2(options.span));
  const words = { title: t`ratio`, wordsOf: formatFactor, unit: "×" };
  return mapFigure(map, options, ratioColouring(map, reach, options.scheme, words));
}

/** Colours by the logarithm of a ratio, up to `reach` on both sides. */
export function ratioColouring(
  { values }: SizeMap,
  reach: number,
  scheme: Scheme,
  { title, wordsOf, unit }: { title: string; wordsOf: (ratio: number) => string; unit: string },
): Colouring {
  const ends = [-reach, 0, reach];
  return {
    z: values.map((row) => row.map((value) => (value ? Math.log2(value) : null))),
    zmin: -reach,
    zmax: reach,
    colorscale: DIVERGING[scheme],
    colorbar: {
      title: { text: title },
      tickvals: ends,
      ticktext: ends.map((end) => wordsOf(2 ** end) + unit),
    },
    text: values.map((row) => row.map((value) => (value === null ? "" : wordsOf(value)))),
    unit,
  };
}

/** The largest factor between a ratio and 1, up or down, of all maps of a figure. */
export function ratioSpan(maps: readonly SizeMap[]): number {
  const ratios = maps.flatMap(({ values }) => values.flat()).filter((value) => value !== null && value > 0);
  return ratios.reduce<number>((most, ratio) => Math.max(most, ratio ?? 1, 1 / (ratio ?? 1)), 1);
}

interface Colouring {
  readonly z: (number | null)[][];
  readonly zmin: number;
  readonly zmax: number;
  readonly colorscale: ColorScale;
  readonly colorbar: object;
  readonly text: string[][];
  readonly unit: string;
}

export function mapFigure(
  map: SizeMap,
  { xTitle, yTitle, scheme }: MapOptions,
  colouring: Colouring,
): Figure {
  const layout = baseLayout(scheme);
  const { text, unit, ...trace } = colouring;
  const hatched = hatches(map, scheme);
  const isWritten = map.xNames.length * map.yNames.length <= MOST_WRITTEN_FIELDS;
  return {
    data: [
      {
        ...trace,
        type: "heatmap",
        x: [...map.xNames],
        y: [...map.yNames],
        xgap: 1,
        ygap: 1,
        // plotly takes rows of texts, which its types do not know.
        text: text as unknown as string[],
        customdata: hovers(map, text, unit),
        ...(isWritten && { texttemplate: "%{text}", textfont: { size: 11 } }),
        hovertemplate: `%{customdata}<br>${yTitle} %{y}, ${xTitle} %{x}<extra></extra>`,
      },
      ...(hatched.length > 0 ? [gapLegend(scheme)] : []),
    ],
    layout: {
      ...layout,
      shapes: hatched,
      showlegend: hatched.length > 0,
      xaxis: { ...layout.xaxis, type: "category", title: { text: xTitle }, showgrid: false },
      yaxis: { ...layout.yaxis, type: "category", title: { text: yTitle }, showgrid: false },
    },
  };
}

/** What the hover says of each field: its number and runs, or why there is none. */
function hovers({ values, runs, gaps }: SizeMap, text: string[][], unit: string): string[][] {
  return values.map((row, line) =>
    row.map((value, column) => {
      if (value === null) return gaps[line]?.[column] || t`impossible: record larger than file`;
      return `${text[line]?.[column] ?? ""}${unit}, ${runs[line]?.[column] ?? ""}`;
    }),
  );
}

const HATCH: Readonly<Record<Scheme, string>> = { light: "#868e96", dark: "#868e96" };
/** Beside a whole number, which would be taken for the name of a column called so. */
const ASIDE = 0.0001;

/** Lines across every field that has no number for a reason: a map leaves it in the colour of its ground. */
function hatches({ gaps }: SizeMap, scheme: Scheme): Partial<Shape>[] {
  const lines = gaps.flatMap((row, y) =>
    row.flatMap((why, x) => (why ? acrossField(x + ASIDE, y + ASIDE) : [])),
  );
  if (lines.length === 0) return [];
  return [{ type: "path", path: lines.join(" "), line: { color: HATCH[scheme], width: 1 } }];
}

function acrossField(x: number, y: number): string[] {
  const [left, right, below, above] = [x - 0.49, x + 0.49, y - 0.49, y + 0.49];
  return [
    `M${left},${y} L${x},${above}`,
    `M${left},${below} L${right},${above}`,
    `M${x},${below} L${right},${y}`,
  ];
}

/** A heatmap has no entry in the legend: a bar of no height stands for the hatched fields. */
function gapLegend(scheme: Scheme): Data {
  return {
    type: "bar",
    name: t`not measured`,
    x: [null],
    y: [null],
    hoverinfo: "skip",
    marker: { color: "rgba(0,0,0,0)", pattern: { shape: "/", fgcolor: HATCH[scheme], size: 6 } },
  } as Data;
}
