/** The chart of a trend and, behind it, the table of its points. */

import { Anchor, Badge, Button, Stack } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Points, SeriesAnalysis } from "@/api/types";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { useScheme } from "@/components/scheme";
import { When } from "@/components/When";
import { type Scale, scaleFor } from "@/lib/units";
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
  readonly analyses: ReadonlyMap<number, SeriesAnalysis>;
  readonly metricTitle: string;
  readonly fromZero: boolean;
  readonly chosenCellId: number | undefined;
  readonly onChoose: (point: ChosenPoint) => void;
}

export function TrendChart({
  lines,
  analyses,
  metricTitle,
  fromZero,
  chosenCellId,
  onChoose,
}: TrendChartProps) {
  const scheme = useScheme();
  const unit = lines[0]?.points.series.unit ?? "count";
  const figure = useMemo(
    () =>
      trendFigure(
        lines.map((line) => toLine(line, analyses)),
        { metricTitle, unit, fromZero, chosenCellId, scheme },
      ),
    [lines, analyses, metricTitle, unit, fromZero, chosenCellId, scheme],
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
      viewKey={`${metricTitle} ${fromZero}`}
    />
  );
}

function toLine({ name, points }: NamedPoints, analyses: ReadonlyMap<number, SeriesAnalysis>): TrendLine {
  const { at, median, low, high, n, flags } = points;
  const changes = analyses.get(points.series.id)?.changes ?? [];
  const changedAt = changes.flatMap((change) => (change.confirmed_at ? [change.at] : []));
  return { name, at, median, low, high, n, cellId: points.cell_id, flags, changedAt };
}

interface TrendTableProps {
  readonly lines: readonly NamedPoints[];
  readonly onChoose: (point: ChosenPoint) => void;
}

const ROWS_AT_ONCE = 200;

/** All points, the newest first, as many as a page shows without delay. */
export function TrendTable({ lines, onChoose }: TrendTableProps) {
  const [shownRows, setShownRows] = useState(ROWS_AT_ONCE);
  const rows = useMemo(() => newestFirst(lines), [lines]);
  const scale = useMemo(() => commonScale(lines), [lines]);
  return (
    <Stack gap="xs">
      <ScrollTable
        head={["Time", "Median", "Series", "Min", "Max", "Runs", "Flags"]}
        label="Points of the trend"
        maxHeight={440}
      >
        {rows.slice(0, shownRows).map(({ name, points, index, at }) => (
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
            <td className="iotide-strong">
              <Quantity scale={scale} unit={points.series.unit} value={points.median[index] ?? null} />
            </td>
            <td className="iotide-name">{name}</td>
            <Spread index={index} points={points} scale={scale} />
            <td>{points.flags[index]?.join(", ")}</td>
          </tr>
        ))}
      </ScrollTable>
      {shownRows < rows.length && (
        <Button onClick={() => setShownRows(shownRows + ROWS_AT_ONCE)} variant="default" w="fit-content">
          Show older points, {rows.length - shownRows} left
        </Button>
      )}
    </Stack>
  );
}

function newestFirst(lines: readonly NamedPoints[]) {
  return lines
    .flatMap(({ name, points }) =>
      points.at.map((at, index) => ({ name, points, index, at, milliseconds: Date.parse(at) })),
    )
    .sort((a, b) => b.milliseconds - a.milliseconds);
}

function commonScale(lines: readonly NamedPoints[]): Scale {
  const high = lines.flatMap(({ points }) => points.high);
  return scaleFor(
    lines[0]?.points.series.unit ?? "count",
    high.reduce((most, value) => Math.max(most, value), 0),
  );
}

function Spread({ points, index, scale }: { points: Points; index: number; scale: Scale }) {
  const { unit } = points.series;
  const runs = points.n[index] ?? 0;
  return (
    <>
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
