/** The chart of a trend and, behind it, the table of its points. */

import { Anchor, Badge } from "@mantine/core";
import { useMemo } from "react";
import type { Points } from "@/api/types";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { useScheme } from "@/components/scheme";
import { When } from "@/components/When";
import { scaleFor } from "@/lib/units";
import { Plot } from "@/plots/Plot";
import { type TrendLine, trendFigure } from "@/plots/trend";

export interface NamedPoints {
  readonly name: string;
  readonly points: Points;
}

/** A point that the reader chose, in a chart or in a table. */
export interface ChosenPoint {
  readonly seriesId: number;
  readonly cellId: number;
}

interface TrendChartProps {
  readonly lines: readonly NamedPoints[];
  readonly metricTitle: string;
  readonly fromZero: boolean;
  readonly chosenCellId: number | undefined;
  readonly onChoose: (point: ChosenPoint) => void;
}

export function TrendChart({ lines, metricTitle, fromZero, chosenCellId, onChoose }: TrendChartProps) {
  const scheme = useScheme();
  const unit = lines[0]?.points.series.unit ?? "count";
  const figure = useMemo(
    () => trendFigure(lines.map(toLine), { metricTitle, unit, fromZero, chosenCellId, scheme }),
    [lines, metricTitle, unit, fromZero, chosenCellId, scheme],
  );
  return (
    <Plot
      figure={figure}
      height={440}
      label={`Trend of ${metricTitle}`}
      onPointClick={(trace, point) => {
        const clicked = lines[trace]?.points;
        const cellId = clicked?.cell_id[point];
        if (clicked && cellId !== undefined) onChoose({ seriesId: clicked.series.id, cellId });
      }}
      viewKey={`${metricTitle} ${fromZero} ${lines.map(({ points }) => points.series.id).join(" ")}`}
    />
  );
}

function toLine({ name, points }: NamedPoints): TrendLine {
  const { at, median, low, high, n, flags } = points;
  return { name, seriesId: points.series.id, at, median, low, high, n, cellId: points.cell_id, flags };
}

interface TrendTableProps {
  readonly lines: readonly NamedPoints[];
  readonly onChoose: (point: ChosenPoint) => void;
}

export function TrendTable({ lines, onChoose }: TrendTableProps) {
  const unit = lines[0]?.points.series.unit ?? "count";
  const scale = scaleFor(unit, Math.max(0, ...lines.flatMap(({ points }) => points.high)));
  return (
    <ScrollTable
      head={["Time", "Series", "Median", "Min", "Max", "Runs", "Flags"]}
      label="Points of the trend"
      maxHeight={440}
    >
      {lines.flatMap(({ name, points }) =>
        points.at.map((at, index) => (
          <tr key={`${points.series.id} ${points.cell_id[index]}`}>
            <td>
              <Anchor
                component="button"
                onClick={() => onChoose({ seriesId: points.series.id, cellId: points.cell_id[index] ?? 0 })}
                size="sm"
                type="button"
              >
                <When at={at} />
              </Anchor>
            </td>
            <td>{name}</td>
            <Values index={index} points={points} scale={scale} />
            <td>{points.flags[index]?.join(", ")}</td>
          </tr>
        )),
      )}
    </ScrollTable>
  );
}

function Values({
  points,
  index,
  scale,
}: {
  points: Points;
  index: number;
  scale: ReturnType<typeof scaleFor>;
}) {
  const { unit } = points.series;
  const runs = points.n[index] ?? 0;
  return (
    <>
      <td className="iotide-strong">
        <Quantity scale={scale} unit={unit} value={points.median[index] ?? null} />
      </td>
      <td>{runs > 1 && <Quantity scale={scale} unit={unit} value={points.low[index] ?? null} />}</td>
      <td>{runs > 1 && <Quantity scale={scale} unit={unit} value={points.high[index] ?? null} />}</td>
      <td>
        {runs > 1 ? (
          runs
        ) : (
          <Badge color="orange" tt="none" variant="light">
            1 run
          </Badge>
        )}
      </td>
    </>
  );
}
