/** Maps over two sizes: a surface seen from above, and the ratio of two of them. */

import { t } from "@lingui/core/macro";
import type { ColorScale } from "plotly.js";
import type { Scale } from "@/lib/units";
import { baseLayout, type Figure, type Scheme } from "./figure";

/** One number a field, row by row from below; null where nothing was measured. */
export interface SizeMap {
  readonly xNames: readonly string[];
  readonly yNames: readonly string[];
  readonly values: readonly (readonly (number | null)[])[];
  /** Runs behind each field, in words. */
  readonly runs: readonly (readonly string[])[];
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
    text: scaled.map((row) => row.map((value) => (value === null ? "" : value.toPrecision(3)))),
    unit: ` ${name}`,
  });
}

/** Of ratios; a field of half has the strength of one of twice, since the colour follows the logarithm. */
export function ratioFigure(map: SizeMap, options: MapOptions & { readonly span: number }): Figure {
  const logs = map.values.map((row) => row.map((value) => (value ? Math.log2(value) : null)));
  const span = Math.max(LEAST_SPAN, Math.log2(options.span));
  const ends = [-span, 0, span];
  return mapFigure(map, options, {
    z: logs,
    zmin: -span,
    zmax: span,
    colorscale: DIVERGING[options.scheme],
    colorbar: {
      title: { text: t`ratio` },
      tickvals: ends,
      ticktext: ends.map((end) => `${(2 ** end).toPrecision(2)}×`),
    },
    text: map.values.map((row) => row.map((value) => (value === null ? "" : value.toFixed(2)))),
    unit: "×",
  });
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
        customdata: map.runs.map((row) => [...row]),
        ...(isWritten && { texttemplate: "%{text}", textfont: { size: 11 } }),
        hovertemplate: `%{text}${unit}, %{customdata}<br>${yTitle} %{y}, ${xTitle} %{x}<extra></extra>`,
      },
    ],
    layout: {
      ...layout,
      xaxis: { ...layout.xaxis, type: "category", title: { text: xTitle }, showgrid: false },
      yaxis: { ...layout.yaxis, type: "category", title: { text: yTitle }, showgrid: false },
    },
  };
}
