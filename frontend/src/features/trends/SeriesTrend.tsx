/** Trend of one series around a point in time. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Loaded } from "@/components/Page";
import { around, type NamedPoints } from "./drawn";
import { analysisQuery, pointsQuery } from "./queries";
import { TrendChart } from "./TrendChart";

interface SeriesTrendProps {
  readonly seriesId: number;
  /** ISO 8601. */
  readonly at: string;
  readonly chosenCellId: number | undefined;
  readonly onChoose: (cellId: number) => void;
}

export function SeriesTrend({ seriesId, at, chosenCellId, onChoose }: SeriesTrendProps) {
  const points = useQuery(pointsQuery(seriesId, {}));
  const { data: analysis } = useQuery(analysisQuery(seriesId));
  const newest = points.data?.at.at(-1);
  const lines = useMemo(
    () => (points.data ? [{ name: points.data.series.title, points: around(points.data, at) }] : []),
    [points.data, at],
  );
  const analyses = useMemo(() => new Map(analysis ? [[seriesId, analysis]] : []), [analysis, seriesId]);
  return (
    <Loaded
      empty={t`The series no longer has any points.`}
      isEmpty={(found) => found.at.length === 0}
      lines={8}
      query={points}
    >
      {({ series }) => (
        <TrendChart
          analyses={analyses}
          chosenCellId={chosenCellId}
          end={endOf(lines, newest)}
          fromZero
          lines={lines}
          metricTitle={series.title}
          onChoose={({ cellId }) => onChoose(cellId)}
          title={t`Trend of `}
        />
      )}
    </Loaded>
  );
}

/** Undefined (now) if the newest point is drawn, else the last drawn point. */
function endOf(lines: readonly NamedPoints[], newest: string | undefined): number | undefined {
  const last = lines[0]?.points.at.at(-1);
  return last === undefined || last === newest ? undefined : Date.parse(last);
}
