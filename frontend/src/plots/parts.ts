/** A whole as the sum of its parts, such as real = user + sys + wait: medians stacked, every run's whole a dot. */

import { t } from "@lingui/core/macro";
import type { Scale } from "@/lib/units";
import { axisTitle, baseLayout, type Figure, type Scheme, traceColour } from "./figure";

export interface PartedBar {
  readonly name: string;
  /** What bars stand together by; none stands alone where there are groups. */
  readonly group?: string | undefined;
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

function isGrouped(bars: readonly PartedBar[]): boolean {
  return bars.some(({ group }) => group !== undefined);
}

/** Two rows of names are an axis of groups, which plotly's types do not know. */
function namesOf(bars: readonly PartedBar[]): string[] {
  const names = bars.map(({ name }) => name);
  return isGrouped(bars) ? ([bars.map(({ group }) => group ?? ""), names] as unknown as string[]) : names;
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
        type: isGrouped(bars) ? "multicategory" : "category",
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
