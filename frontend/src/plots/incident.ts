/** The worst series of an incident, with the incident shaded and its levels as lines. */

import { localTime } from "@/lib/time";
import type { Unit } from "@/lib/units";
import { axisScale, type Figure } from "./figure";
import { type SmallLine, type SmallOptions, smallTrendFigure } from "./smallTrend";

export interface IncidentSpan {
  readonly at: string;
  /** Null: it lasts. */
  readonly endedAt: string | null;
  readonly isWorse: boolean;
  /** Levels before and after, in the base unit. */
  readonly levels: readonly [number, number] | null;
}

type Options = Pick<SmallOptions, "metricTitle" | "scheme" | "end"> & { readonly unit: Unit };

export function incidentFigure(line: SmallLine, incident: IncidentSpan, options: Options): Figure {
  const scale = axisScale(options.unit, line.median);
  const range = [0, Math.max(...line.median)] as const;
  const figure = smallTrendFigure([line], { ...options, scale, range });
  const until = incident.endedAt ?? new Date(options.end).toISOString();
  const [x0, x1] = [localTime(incident.at), localTime(until)];
  const colour = incident.isWorse ? "#e03131" : "#868e96";
  const levels = incident.levels?.map((level) => level / scale.divisor) ?? [];
  return {
    ...figure,
    layout: {
      ...figure.layout,
      shapes: [
        ...(figure.layout.shapes ?? []),
        {
          ...{ type: "rect", xref: "x", yref: "paper", layer: "below" },
          ...{ x0, x1, y0: 0, y1: 1, fillcolor: colour, opacity: 0.12, line: { width: 0 } },
        },
        ...levels.map((level, index) => ({
          ...({ type: "line", xref: index === 0 ? "paper" : "x", yref: "y" } as const),
          ...(index === 0 ? { x0: 0, x1: 1 } : { x0, x1 }),
          ...{ y0: level, y1: level, line: { dash: "dash" as const, width: 1, color: colour } },
        })),
      ],
    },
  };
}
