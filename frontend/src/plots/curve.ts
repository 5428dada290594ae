/** The per-second curve of a run: how a counter went while the load ran. */

import type { Unit } from "@/lib/units";
import { axisScale, axisTitle, baseLayout, type Figure, type Scheme, traceColour } from "./figure";

/** Values of one counter of one order, `stepSeconds` apart, in the counter's base unit; null where none was taken. */
export interface CurveLine {
  readonly name: string;
  readonly stepSeconds: number;
  readonly values: readonly (number | null)[];
}

/** The unit that a counter's name ends with: `write_bytes_per_second`, `cpu_user_ratio`. */
export function counterUnit(counter: string): Unit {
  if (counter.endsWith("bytes_per_second")) return "bytes_per_second";
  if (counter.endsWith("_per_second")) return "operations_per_second";
  if (counter.endsWith("_seconds")) return "seconds";
  if (counter.endsWith("bytes")) return "bytes";
  return counter.endsWith("_ratio") ? "ratio" : "count";
}

/** `write_bytes_per_second` is read as “write”, `cpu_user_ratio` as “cpu user”. */
export function counterTitle(counter: string): string {
  const title = counter
    .replace(/_?(bytes_per_second|per_second|bytes|seconds|ratio)$/, "")
    .replaceAll("_", " ");
  return title || counter.replaceAll("_", " ");
}

export function curveFigure(counter: string, lines: readonly CurveLine[], scheme: Scheme): Figure {
  const scale = axisScale(
    counterUnit(counter),
    lines.flatMap((line) => line.values.map((value) => value ?? 0)),
  );
  const layout = baseLayout(scheme);
  const title = counterTitle(counter);
  return {
    data: lines.map((line, index) => ({
      type: "scatter",
      mode: "lines",
      name: line.name,
      x: line.values.map((_, second) => second * line.stepSeconds),
      y: line.values.map((value) => (value === null ? null : value / scale.divisor)),
      line: { color: traceColour(scheme, index), width: 1.5 },
      hovertemplate: `%{y:.4~g} ${scale.name} after %{x:.0f} s<extra>${line.name}</extra>`,
    })),
    layout: {
      ...layout,
      showlegend: lines.length > 1,
      xaxis: { ...layout.xaxis, title: { text: "Time since the start (s)" } },
      yaxis: {
        ...layout.yaxis,
        title: { text: axisTitle(title.charAt(0).toUpperCase() + title.slice(1), scale) },
        rangemode: "tozero",
      },
    },
  };
}
