/** A whole as the sum of its parts, such as real = user + sys + wait: medians stacked, every run's whole a dot. */

import type { Scale } from "@/lib/units";
import { axisTitle, baseLayout, type Figure, type Scheme, traceColour } from "./figure";

export interface PartedBar {
  readonly name: string;
  /** Medians by part; a part that was not measured is missing. */
  readonly parts: Readonly<Record<string, number>>;
  /** The whole of each run. */
  readonly wholes: readonly number[];
}

export interface PartsOptions {
  readonly metricTitle: string;
  readonly xTitle: string;
  /** From below; the whole is none of them. */
  readonly parts: readonly string[];
  readonly whole: string;
  readonly scale: Scale;
  readonly scheme: Scheme;
}

export function partsFigure(bars: readonly PartedBar[], options: PartsOptions): Figure {
  const layout = baseLayout(options.scheme);
  const { divisor, name } = options.scale;
  const dots = bars.flatMap((bar) => bar.wholes.map((whole) => ({ x: bar.name, y: whole / divisor })));
  return {
    data: [
      ...options.parts.map((part, index) => ({
        type: "bar" as const,
        name: part,
        x: bars.map((bar) => bar.name),
        y: bars.map((bar) => (bar.parts[part] ?? 0) / divisor),
        marker: { color: traceColour(options.scheme, index), opacity: 0.75 },
        hovertemplate: `%{y:,.4~r} ${name}<extra>${part}, median</extra>`,
      })),
      {
        type: "scatter",
        mode: "markers",
        name: `${options.whole}, each run`,
        x: dots.map(({ x }) => x),
        y: dots.map(({ y }) => y),
        marker: {
          color: layout.font?.color ?? "#343a40",
          size: 7,
          symbol: "circle-open",
          line: { width: 1.5 },
        },
        hovertemplate: `%{y:,.4~r} ${name}<extra>${options.whole}</extra>`,
      },
    ],
    layout: {
      ...layout,
      barmode: "stack",
      bargap: 0.35,
      xaxis: { ...layout.xaxis, type: "category", title: { text: options.xTitle } },
      yaxis: {
        ...layout.yaxis,
        title: { text: axisTitle(options.metricTitle, options.scale) },
        rangemode: "tozero",
      },
    },
  };
}
