/** 3-D view, difference map and slices of a surface. */

import { t } from "@lingui/core/macro";
import type { Data, Layout } from "plotly.js";
import { exactBytes, formatNumber, formatShift, type Scale } from "@/lib/units";
import { axisTitle, baseLayout, type Figure, type Scheme, traceColour, traceSymbol } from "./figure";
import { DIVERGING, HUE, mapFigure, ratioColouring, type SizeMap } from "./map";

/** Values of one side: rows are file sizes, columns record sizes; null if not measured. */
export interface Fields {
  readonly fileSizes: readonly number[];
  readonly recordSizes: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

export interface PlaceOnSurface {
  readonly fileSize: number;
  readonly recordSize: number;
}

interface SurfaceInSpace {
  readonly title: string;
  readonly scale: Scale;
  readonly scheme: Scheme;
  readonly isDifference: boolean;
  readonly marked: PlaceOnSurface | undefined;
}

/** The colour scale covers at least ±10 %, so small differences stay pale. */
const LEAST_REACH = Math.log2(1.1);

export const FILE_SIZE = t`File size`;
export const RECORD_SIZE = t`Record size`;

/**
 * 3-D view. Sizes are drawn as exponents of two with text labels, since plotly's logarithmic 3-D axes are wrong
 * unless its calendars are loaded.
 */
export function spatialFigure(fields: Fields, options: SurfaceInSpace): Figure {
  const { scale, scheme, isDifference, marked } = options;
  const heights = fields.values.map((row) => row.map((value) => value && value / scale.divisor));
  const reach = isDifference ? greatest(heights) : undefined;
  return {
    data: [
      {
        type: "surface",
        x: fields.recordSizes.map(Math.log2),
        y: fields.fileSizes.map(Math.log2),
        z: heights,
        colorscale: isDifference ? DIVERGING[scheme] : HUE[scheme],
        ...(reach !== undefined && { cmin: -reach, cmax: reach }),
        colorbar: { title: { text: scale.name }, thickness: 12 },
        hovertemplate: `%{z:,.3~r} ${scale.name}<extra></extra>`,
      } as Data,
    ],
    layout: {
      ...baseLayout(scheme),
      margin: { l: 0, r: 0, t: 0, b: 0 },
      scene: sceneOf(fields, heights, options, marked),
    },
  };
}

function sceneOf(
  fields: Fields,
  heights: readonly (readonly (number | null)[])[],
  { title, scale, scheme }: SurfaceInSpace,
  marked: PlaceOnSurface | undefined,
): NonNullable<Layout["scene"]> {
  const colour = scheme === "dark" ? "#d5d9dd" : "#343a40";
  const grid = scheme === "dark" ? "#55585c" : "#c9ced3";
  const axis = { color: colour, gridcolor: grid, tickfont: { size: 11 } };
  const z = marked && heights[fields.fileSizes.indexOf(marked.fileSize)];
  const height = marked && z?.[fields.recordSizes.indexOf(marked.recordSize)];
  return {
    xaxis: { ...axis, ...sizeTicks(fields.recordSizes), title: { text: RECORD_SIZE } },
    yaxis: { ...axis, ...sizeTicks(fields.fileSizes), title: { text: FILE_SIZE } },
    zaxis: { ...axis, title: { text: axisTitle(title, scale) } },
    camera: { eye: { x: -1.5, y: -1.6, z: 0.9 } },
    annotations:
      marked && height !== undefined && height !== null
        ? [
            {
              x: Math.log2(marked.recordSize),
              y: Math.log2(marked.fileSize),
              z: height,
              text: placeName(marked),
              font: { color: colour },
              arrowcolor: colour,
            },
          ]
        : [],
  };
}

/** At most eight labels, so that they do not overlap. */
function sizeTicks(sizes: readonly number[]) {
  const every = Math.ceil(sizes.length / 8);
  const shown = sizes.filter((_, index) => index % every === 0);
  return { tickvals: shown.map(Math.log2), ticktext: shown.map(exactBytes) };
}

export function placeName({ fileSize, recordSize }: PlaceOnSurface): string {
  return t`${exactBytes(recordSize)} of ${exactBytes(fileSize)}`;
}

/** Map of B − A; zero is the middle colour. */
export function differenceFigure(map: SizeMap, options: { scale: Scale; scheme: Scheme }): Figure {
  const { divisor, name } = options.scale;
  const scaled = map.values.map((row) => row.map((value) => value && value / divisor));
  const reach = greatest(scaled);
  return mapFigure(
    map,
    { xTitle: RECORD_SIZE, yTitle: FILE_SIZE, scheme: options.scheme },
    {
      z: scaled,
      zmin: -reach,
      zmax: reach,
      colorscale: DIVERGING[options.scheme],
      colorbar: { title: { text: name } },
      text: scaled.map((row) => row.map((value) => (value === null ? "" : signed(value)))),
      unit: ` ${name}`,
    },
  );
}

/** Map of B / A in percent; half and twice are equally far from the middle. */
export function percentFigure(map: SizeMap, scheme: Scheme): Figure {
  const logs = map.values.map((row) => row.map((value) => (value ? Math.log2(value) : 0)));
  const reach = Math.max(LEAST_REACH, greatest(logs));
  const words = { title: "B / A", wordsOf: formatShift, unit: "" };
  const titles = { xTitle: RECORD_SIZE, yTitle: FILE_SIZE, scheme };
  return mapFigure(map, titles, ratioColouring(map, reach, scheme, words));
}

function signed(value: number): string {
  const text = formatNumber(value);
  return value > 0 ? `+${text}` : text.replace("-", "−");
}

function greatest(rows: readonly (readonly (number | null)[])[]): number {
  const most = rows.flat().reduce<number>((found, value) => Math.max(found, Math.abs(value ?? 0)), 0);
  return most || 1;
}

/** Overlay of a map: frame of the selected cell, and lines where values drop. */
export function withMarks(
  figure: Figure,
  fields: Fields,
  marked: PlaceOnSurface | undefined,
  falls: readonly { readonly axis: "file_size" | "record_size"; readonly lastBytes: number }[],
): Figure {
  const colour = figure.layout.font?.color ?? "#343a40";
  const lines = falls.map(({ axis, lastBytes }) => {
    const along = axis === "file_size" ? fields.fileSizes : fields.recordSizes;
    const at = along.indexOf(lastBytes) + 0.5;
    const line = { color: colour, width: 2, dash: "dash" as const };
    return axis === "file_size"
      ? { type: "line" as const, xref: "paper" as const, x0: 0, x1: 1, y0: at, y1: at, line }
      : { type: "line" as const, yref: "paper" as const, y0: 0, y1: 1, x0: at, x1: at, line };
  });
  const column = marked ? fields.recordSizes.indexOf(marked.recordSize) : -1;
  const row = marked ? fields.fileSizes.indexOf(marked.fileSize) : -1;
  const frame = {
    type: "rect" as const,
    x0: column - 0.5,
    x1: column + 0.5,
    y0: row - 0.5,
    y1: row + 0.5,
    line: { color: colour, width: 3 },
  };
  const hatched = figure.layout.shapes ?? [];
  const shapes = [...hatched, ...lines, ...(column >= 0 && row >= 0 ? [frame] : [])];
  return { data: figure.data, layout: { ...figure.layout, shapes } };
}

export interface SliceLine {
  readonly name: string;
  readonly at: readonly number[];
  readonly median: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** Slice at one size: medians as lines, bars from minimum to maximum. */
export function sliceFigure(
  lines: readonly SliceLine[],
  options: { xTitle: string; title: string; scale: Scale; scheme: Scheme },
): Figure {
  const layout = baseLayout(options.scheme);
  const { divisor, name } = options.scale;
  const sizes = [...new Set(lines.flatMap(({ at }) => at))].sort((a, b) => a - b);
  return {
    data: lines.map((line, index) => ({
      type: "scatter",
      mode: "lines+markers",
      name: line.name,
      x: line.at.map(exactBytes),
      y: line.median.map((value) => value && value / divisor),
      error_y: {
        type: "data",
        symmetric: false,
        array: line.high.map((value, at) => ((value ?? 0) - (line.median[at] ?? 0)) / divisor),
        arrayminus: line.low.map((value, at) => ((line.median[at] ?? 0) - (value ?? 0)) / divisor),
      },
      line: { color: traceColour(options.scheme, index) },
      marker: { symbol: traceSymbol(index), size: 7 },
      connectgaps: false,
      hovertemplate: `%{y:,.3~r} ${name}, %{x}<extra>${line.name}</extra>`,
    })),
    layout: {
      ...layout,
      showlegend: lines.length > 1,
      xaxis: {
        ...layout.xaxis,
        type: "category",
        categoryorder: "array",
        categoryarray: sizes.map(exactBytes),
        title: { text: options.xTitle },
      },
      yaxis: {
        ...layout.yaxis,
        rangemode: "tozero",
        title: { text: axisTitle(options.title, options.scale) },
      },
    },
  };
}
