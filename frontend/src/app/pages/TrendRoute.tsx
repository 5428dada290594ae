/** /clusters/ID/trend: one workload. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Skeleton } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Workload } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { SeriesIncidents } from "@/features/alerts/FoundIncidents";
import { PointRuns } from "@/features/runs/RunsSection";
import { trendTitle } from "@/features/trends/names";
import { measuredWorkloadsQuery, pointsQuery, seriesQuery } from "@/features/trends/queries";
import { rangeSearch } from "@/features/trends/ranges";
import { TrendSection } from "@/features/trends/TrendSection";
import { workloadsQuery } from "@/features/workloads/queries";
import { MAX_TRACES } from "@/plots/figure";
import { preparePlots } from "@/plots/Plot";
import { AddEvent } from "./AddEvent";
import { addCause } from "./addCause";
import { ClusterPage } from "./ClusterPage";

const INCIDENTS_AT_ONCE = 5;
const NO_SERIES: readonly number[] = [];

const route = getRouteApi("/shell/clusters/$clusterId/trend");

export default function TrendRoute() {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const workloads = useQuery(workloadsQuery(clusterId));
  const titleOf = usePrefetched(clusterId);
  useEffect(preparePlots, []);
  return (
    <ClusterPage
      actions={(cluster) => <AddEvent cluster={cluster} />}
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ params: { clusterId: chosen }, search: {} })}
      title={titleOf}
    >
      {({ name }) => (
        <Loaded empty={t`No agent in this cluster has announced a workload yet.`} lines={8} query={workloads}>
          {(rows) => <WorkloadTrend title={titleOf(name)} workloads={rows} />}
        </Loaded>
      )}
    </ClusterPage>
  );
}

/** Request what the address names at once, without waiting for the workloads. Return the title of what is drawn. */
function usePrefetched(clusterId: number): (clusterName: string) => string {
  const { workload, series = NO_SERIES, from, to } = route.useSearch();
  const all = useQuery({ ...seriesQuery(clusterId, workload ?? ""), enabled: workload !== undefined });
  useQueries({ queries: series.slice(0, MAX_TRACES).map((id) => pointsQuery(id, { from, to })) });
  const drawn = (all.data ?? []).filter(({ id }) => series.includes(id));
  return (clusterName) => trendTitle(drawn, clusterName);
}

function WorkloadTrend({ title, workloads }: { title: string; workloads: readonly Workload[] }) {
  const { clusterId } = route.useParams();
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = workloads.find(({ name }) => name === view.workload);
  const measured = useQuery({ ...measuredWorkloadsQuery(clusterId), enabled: !chosen });
  if (!chosen && measured.isPending) return <Skeleton aria-label={t`Loading`} height={380} role="status" />;
  const [longest] = measured.data ?? [];
  const workload = chosen ?? workloads.find(({ name }) => name === longest) ?? workloads[0];
  if (!workload) return null;
  return (
    <Section
      actions={
        <Group gap="xs">
          <ButtonLink
            search={{
              workload: workload.name,
              ...(view.metric && { metric: view.metric }),
              ...(view.from && { from: view.from }),
              ...(view.to && { to: view.to }),
              ...rangeSearch(view),
            }}
            to="/trends"
            variant="default"
          >
            {t`All targets and clusters`}
          </ButtonLink>
          <NativeSelect
            aria-label={t`Workload`}
            data={workloads.map(({ name, title }) => ({ value: name, label: title }))}
            onChange={(event) => void navigate({ search: { workload: event.currentTarget.value } })}
            value={workload.name}
          />
        </Group>
      }
      description={t`Each point is the median of one campaign's valid runs; whiskers show min–max. Hollow points have gained or lost a caution.`}
      title={workload.title}
    >
      <TrendSection
        clusterId={clusterId}
        onView={(change) =>
          void navigate({ search: { ...view, workload: workload.name, ...change }, replace: true })
        }
        renderIncidents={(seriesIds) => <DrawnIncidents seriesIds={seriesIds} />}
        renderRuns={(point) => <PointRuns {...point} />}
        title={title}
        view={view}
        workload={workload}
      />
    </Section>
  );
}

function DrawnIncidents({ seriesIds }: { seriesIds: readonly number[] }) {
  const { clusterId } = route.useParams();
  return (
    <SeriesIncidents filter={{ clusterId, seriesIds, atOnce: INCIDENTS_AT_ONCE }} renderAdd={addCause} />
  );
}
