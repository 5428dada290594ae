import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Incident } from "@/api/types";
import { useNow } from "@/components/clock";
import { Loaded } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { incidentFigure } from "@/plots/incident";
import { Plot } from "@/plots/Plot";
import { seriesPointsQuery } from "./queries";

const CHART_PIXELS = 280;
const NOW_STEP_SECONDS = 600;

interface IncidentChartProps {
  readonly incident: Incident;
  readonly seriesId: number;
}

export function IncidentChart({ incident, seriesId }: IncidentChartProps) {
  const points = useQuery(seriesPointsQuery(seriesId));
  const scheme = useScheme();
  const end = useNow(NOW_STEP_SECONDS);
  const figure = useMemo(() => {
    if (!points.data || points.data.at.length === 0) return null;
    const { series, at, median, gaps } = points.data;
    const { change } = incident;
    const span = {
      at: incident.at,
      endedAt: incident.ended_at,
      isWorse: incident.kind === "worse",
      levels: change ? ([change.median_before, change.median_after] as const) : null,
    };
    return incidentFigure({ name: series.title, at, median, gaps }, span, {
      metricTitle: series.title,
      unit: series.unit,
      scheme,
      end,
    });
  }, [points.data, incident, scheme, end]);
  return (
    <Loaded
      empty={t`The series no longer has any points.`}
      isEmpty={() => figure === null}
      lines={8}
      query={points}
    >
      {({ series }) =>
        figure && (
          <Plot
            figure={figure}
            height={CHART_PIXELS}
            label={t`${series.title}, incident shaded`}
            viewKey={`incident ${incident.id}`}
          />
        )
      }
    </Loaded>
  );
}
