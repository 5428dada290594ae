/** Daily medians of a metric, one line per cluster. */

import { t } from "@lingui/core/macro";
import type { Unit } from "@/lib/units";
import {
  axisScale,
  axisTitle,
  baseLayout,
  type Figure,
  LEGEND_ROOM,
  MAX_TRACES,
  type Scheme,
  traceColour,
} from "./figure";

export interface ThroughputLine {
  readonly name: string;
  readonly days: readonly string[];
  readonly medians: readonly number[];
  /** Series measured on each day. */
  readonly series: readonly number[];
}

interface ThroughputOptions {
  readonly metricTitle: string;
  readonly unit: Unit;
  readonly scheme: Scheme;
}

/** Colours repeat after eight lines, so the dash differs then. */
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"] as const;

export function throughputFigure(lines: readonly ThroughputLine[], options: ThroughputOptions): Figure {
  const { metricTitle, unit, scheme } = options;
  const layout = baseLayout(scheme);
  const scale = axisScale(
    unit,
    lines.flatMap(({ medians }) => medians),
  );
  return {
    data: lines.map(({ name, days, medians, series }, index) => ({
      type: "scatter",
      mode: days.length > 40 ? "lines" : "lines+markers",
      name,
      x: [...days],
      y: medians.map((value) => value / scale.divisor),
      line: {
        color: traceColour(scheme, index),
        dash: DASHES[Math.floor(index / MAX_TRACES) % DASHES.length] ?? "solid",
        width: 1.8,
      },
      marker: { size: 5 },
      text: series.map((count) => (count === 1 ? t`1 series` : t`median of ${count} series`)),
      hovertemplate: `%{y:,.3~r} ${scale.name}, %{text}<br>%{x|%d %b %Y}<extra>${name}</extra>`,
    })),
    layout: {
      ...layout,
      margin: { l: 64, r: 16, b: 40, ...LEGEND_ROOM },
      showlegend: true,
      xaxis: { ...layout.xaxis, type: "date", title: { text: t`Day (UTC)` } },
      yaxis: { ...layout.yaxis, rangemode: "tozero", title: { text: axisTitle(metricTitle, scale) } },
    },
  };
}
