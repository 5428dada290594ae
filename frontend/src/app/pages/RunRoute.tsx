/** /runs/ID: the run and its point in the trend. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { RunDetail } from "@/api/types";
import { TextLink } from "@/components/links";
import { Section } from "@/components/Page";
import { headlineOf } from "@/features/runs/headline";
import { runQuery } from "@/features/runs/queries";
import { RunPage } from "@/features/runs/RunPage";
import { pointsQuery } from "@/features/trends/queries";
import { ClusterTitles } from "./ClusterTitles";

const SeriesTrend = lazy(async () => ({
  default: (await import("@/features/trends/SeriesTrend")).SeriesTrend,
}));
const route = getRouteApi("/shell/runs/$runId");

export default function RunRoute() {
  const { runId } = route.useParams();
  const { curves } = route.useSearch();
  const navigate = route.useNavigate();
  const run = useQuery(runQuery(runId));
  return (
    <ClusterTitles clusterId={run.data?.cluster_id}>
      <RunPage
        curves={curves}
        key={runId}
        onCurves={(chosen) =>
          void navigate({ search: { curves: chosen }, replace: true, resetScroll: false })
        }
        runId={runId}
        trend={run.data && <RunTrend run={run.data} />}
      />
    </ClusterTitles>
  );
}

const FEWEST_POINTS = 2;

/** Shown for finished runs only: a failed run is not a point of a trend. A single point is none. */
function RunTrend({ run }: { run: RunDetail }) {
  const navigate = route.useNavigate();
  const sample = run.state === "finished" ? headlineOf(run.samples) : undefined;
  const { data: points } = useQuery({
    ...pointsQuery(sample?.series_id ?? 0, {}),
    enabled: sample !== undefined,
  });
  if (!sample || !points || points.at.length < FEWEST_POINTS) return null;
  const link = (cell: number) => ({
    to: "/clusters/$clusterId/trend" as const,
    params: { clusterId: run.cluster_id },
    search: { workload: run.workload, metric: sample.metric, series: [sample.series_id], cell },
  });
  return (
    <Section
      actions={<TextLink {...link(run.cell_id)} size="sm">{t`Open trend`}</TextLink>}
      description={t`Data points around this run. The marked point combines this run and the other repeats of its configuration.`}
      title={t`This run in the trend: ${sample.title}`}
    >
      <Suspense>
        <SeriesTrend
          at={run.started_at ?? run.created_at}
          chosenCellId={run.cell_id}
          onChoose={(cell) => void navigate(link(cell))}
          seriesId={sample.series_id}
        />
      </Suspense>
    </Section>
  );
}
