/** Maps of a surface and of the ratio of two surfaces. */

import { t } from "@lingui/core/macro";
import type { ColorScale, Data, Shape } from "plotly.js";
import { formatFactor, formatNumber, type Scale } from "@/lib/units";
import { baseLayout, type Figure, type Scheme } from "./figure";

/** Values by row, from the bottom; null if missing. */
export interface SizeMap {
  readonly xNames: readonly string[];
  readonly yNames: readonly string[];
  readonly values: readonly (readonly (number | null)[])[];
  /** Runs behind each cell as text. */
  readonly runs: readonly (readonly string[])[];
  /** Reasons for missing values; empty if there is a value or none is possible. */
  readonly gaps: readonly (readonly string[])[];
}

interface MapOptions {
  readonly xTitle: string;
  readonly yTitle: string;
  readonly scheme: Scheme;
}

/** Common range of all maps of a figure, so that equal colours mean equal values. */
export interface SurfaceOptions extends MapOptions {
  readonly scale: Scale;
  readonly lowest: number;
  readonly highest: number;
}

const MOST_WRITTEN_FIELDS = 150;
const LEAST_SPAN = Math.log2(1.1);

/** Sequential colours of one hue: lightness shows the order. */
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
/** Diverging colours, safe for colour-blind readers. */
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

/** Colours follow the logarithm of the ratio, so half and twice are equally strong. */
export function ratioFigure(map: SizeMap, options: MapOptions & { readonly span: number }): Figure {
  const reach = Math.max(LEAST_SPAN, Math.log2(options.span));
  const words = { title: t`ratio`, wordsOf: formatFactor, unit: "×" };
  return mapFigure(map, options, ratioColouring(map, reach, options.scheme, words));
}

/** Logarithmic colour scale up to `reach` in both directions. */
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

/** Largest factor from 1, up or down, over all maps of a figure. */
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
        // plotly accepts rows of texts; its types do not.
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

function hovers({ values, runs, gaps }: SizeMap, text: string[][], unit: string): string[][] {
  return values.map((row, line) =>
    row.map((value, column) => {
      if (value === null) return gaps[line]?.[column] || t`impossible: record larger than file`;
      return `${text[line]?.[column] ?? ""}${unit}, ${runs[line]?.[column] ?? ""}`;
    }),
  );
}

const HATCH: Readonly<Record<Scheme, string>> = { light: "#868e96", dark: "#868e96" };
/** Offset from whole numbers, which plotly interprets as column names. */
const ASIDE = 0.0001;

/** Hatches cells with a reason for a missing value, which a map leaves in the background colour. */
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

/** Heatmaps have no legend entry, so an empty bar stands for hatched cells. */
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
