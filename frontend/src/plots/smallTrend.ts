/** Small trend chart of lines on a common scale. */

import type { Layout, Shape } from "plotly.js";
import { localTime } from "@/lib/time";
import type { Scale } from "@/lib/units";
import { baseLayout, type Figure, type Scheme, traceColour, traceSymbol } from "./figure";
import { gapShapes, type Stretch, shownRange, type TimeSpan } from "./timeAxis";
import { type RangePair, rangeShapes } from "./trendNotes";

export interface SmallLine {
  readonly name: string;
  readonly at: readonly string[];
  readonly median: readonly number[];
  readonly gaps: readonly Stretch[];
}

export interface SmallOptions extends TimeSpan {
  readonly metricTitle: string;
  readonly scale: Scale;
  /** In the base unit, common to all charts. */
  readonly range: readonly [number, number];
  readonly scheme: Scheme;
  /** A time to be marked, as of a change. */
  readonly markAt?: string | null | undefined;
  /** Two compared ranges to be shaded. */
  readonly ranges?: RangePair | undefined;
}

const HEADROOM = 0.05;

export function smallTrendFigure(lines: readonly SmallLine[], options: SmallOptions): Figure {
  const layout = baseLayout(options.scheme);
  const { divisor, name: unit } = options.scale;
  const [least, most] = options.range;
  const room = (most - least) * HEADROOM;
  return {
    data: lines.map((line, index) => ({
      type: "scatter",
      mode: line.at.length > 40 ? "lines" : "lines+markers",
      name: line.name,
      x: line.at.map(localTime),
      y: line.median.map((value) => value / divisor),
      line: { color: traceColour(options.scheme, index), width: 1.3 },
      // The newest point is at the right edge.
      cliponaxis: false,
      marker: { size: 4, symbol: traceSymbol(index) },
      hovertemplate: `%{y:,.3~r} ${unit}<br>%{x|%d %b %Y %H:%M}<extra>${line.name}</extra>`,
    })),
    layout: {
      ...layout,
      font: { ...layout.font, size: 11 },
      margin: { l: 52, r: 8, t: 8, b: 28 },
      showlegend: false,
      shapes: [
        ...rangeShapes(options.ranges, options.scheme),
        ...smallGaps(lines, options),
        ...markOf(options, layout),
      ],
      xaxis: {
        ...layout.xaxis,
        type: "date",
        nticks: 4,
        ...shownRange(lines, options),
      },
      yaxis: {
        ...layout.yaxis,
        fixedrange: true,
        nticks: 4,
        range: [(least === 0 ? 0 : least - room) / divisor, (most + room) / divisor],
        title: { text: options.scale.name || options.metricTitle, font: { size: 10 } },
      },
    },
  };
}

/** Without labels, which do not fit. */
function smallGaps(lines: readonly SmallLine[], { end, scheme }: SmallOptions): Partial<Shape>[] {
  const coloured = lines.map(({ gaps }, index) => ({ gaps, colour: traceColour(scheme, index) }));
  return gapShapes(coloured, end, scheme).map(({ label: _, ...shape }) => shape);
}

function markOf({ markAt }: SmallOptions, layout: Partial<Layout>): Partial<Shape>[] {
  if (!markAt) return [];
  const x = localTime(markAt);
  const color = layout.font?.color?.toString() ?? "#343a40";
  return [
    { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color, width: 1.2, dash: "dash" } },
  ];
}
