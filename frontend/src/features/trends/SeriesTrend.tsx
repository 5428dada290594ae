/** The trend of one series around a moment, for pages about what happened there. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Points } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import type { NamedPoints } from "./drawn";
import { analysisQuery, pointsQuery } from "./queries";
import { TrendChart } from "./TrendChart";

/** On each side of the moment. */
const POINTS_BESIDE = 60;

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
      empty={<Text c="dimmed">{t`The series has no points any more.`}</Text>}
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
        />
      )}
    </Loaded>
  );
}

/** Now, where the newest point is among those that are drawn: else the last of them. */
function endOf(lines: readonly NamedPoints[], newest: string | undefined): number | undefined {
  const last = lines[0]?.points.at.at(-1);
  return last === undefined || last === newest ? undefined : Date.parse(last);
}

function around(points: Points, at: string): Points {
  const place = points.at.findIndex((time) => Date.parse(time) >= Date.parse(at));
  const middle = place === -1 ? points.at.length : place;
  const cut = <Value,>(column: readonly Value[]) =>
    column.slice(Math.max(0, middle - POINTS_BESIDE), middle + POINTS_BESIDE);
  return {
    ...points,
    at: cut(points.at),
    median: cut(points.median),
    low: cut(points.low),
    high: cut(points.high),
    n: cut(points.n),
    cell_id: cut(points.cell_id),
    campaign_id: cut(points.campaign_id),
    flags: cut(points.flags),
  };
}
