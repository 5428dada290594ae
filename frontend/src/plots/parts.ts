/** Stacked medians of the parts of a whole, such as real = user + sys + wait. Dots are the wholes of single runs. */

import { t } from "@lingui/core/macro";
import type { LayoutAxis } from "plotly.js";
import type { Scale } from "@/lib/units";
import { axisTitle, baseLayout, type Figure, type Scheme, tickText, traceColour } from "./figure";

export interface PartedBar {
  readonly name: string;
  /** Group of the bar. Either all bars have one or none. */
  readonly group?: string | undefined;
  /** Medians by part; unmeasured parts are missing. */
  readonly parts: Readonly<Record<string, number>>;
  /** Whole of each run. */
  readonly wholes: readonly number[];
}

export interface PartsOptions {
  readonly metricTitle: string;
  readonly xTitle: string;
  /** Bottom to top, without the whole. */
  readonly parts: readonly string[];
  readonly whole: string;
  readonly scale: Scale;
  readonly scheme: Scheme;
}

function isGrouped(bars: readonly PartedBar[]): boolean {
  return bars.some(({ group }) => group !== undefined);
}

/** Two rows of names make a grouped axis; plotly's types do not know it. */
function namesOf(bars: readonly PartedBar[]): string[] {
  const names = bars.map(({ name }) => name);
  return isGrouped(bars) ? ([bars.map(({ group }) => group ?? ""), names] as unknown as string[]) : names;
}

function namedTicks(bars: readonly PartedBar[]): Partial<LayoutAxis> {
  const names = bars.map(({ name }) => name);
  return { type: "category", tickvals: names, ticktext: names.map(tickText) };
}

export function partsFigure(bars: readonly PartedBar[], options: PartsOptions): Figure {
  const layout = baseLayout(options.scheme);
  const { divisor, name } = options.scale;
  const dots = bars.flatMap((bar) => bar.wholes.map((whole) => ({ bar, y: whole / divisor })));
  return {
    data: [
      ...options.parts.map((part, index) => ({
        type: "bar" as const,
        name: part,
        x: namesOf(bars),
        y: bars.map((bar) => (bar.parts[part] ?? 0) / divisor),
        marker: { color: traceColour(options.scheme, index), opacity: 0.75 },
        hovertemplate: `%{y:,.3~r} ${name}<extra>${part}, median</extra>`,
      })),
      {
        type: "scatter",
        mode: "markers",
        name: t`${options.whole}, each run`,
        x: namesOf(dots.map(({ bar }) => bar)),
        y: dots.map(({ y }) => y),
        marker: {
          color: layout.font?.color ?? "#343a40",
          size: 7,
          symbol: "circle-open",
          line: { width: 1.5 },
        },
        hovertemplate: `%{y:,.3~r} ${name}<extra>${options.whole}</extra>`,
      },
    ],
    layout: {
      ...layout,
      barmode: "stack",
      bargap: 0.35,
      xaxis: {
        ...layout.xaxis,
        ...(isGrouped(bars) ? { type: "multicategory" } : namedTicks(bars)),
        title: { text: options.xTitle },
      },
      yaxis: {
        ...layout.yaxis,
        title: { text: axisTitle(options.metricTitle, options.scale) },
        rangemode: "tozero",
      },
    },
  };
}
