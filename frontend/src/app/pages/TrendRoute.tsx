/** /clusters/ID/trend: one workload. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import type { Workload } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { SeriesIncidents } from "@/features/alerts/FoundIncidents";
import { PointRuns } from "@/features/runs/RunsSection";
import { trendTitle } from "@/features/trends/names";
import { metricBoardQuery, seriesQuery } from "@/features/trends/queries";
import { rangeSearch } from "@/features/trends/ranges";
import { TrendSection } from "@/features/trends/TrendSection";
import { workloadsQuery } from "@/features/workloads/queries";
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
  const titleOf = useTitle(clusterId);
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

/** Return the title of what is drawn. */
function useTitle(clusterId: number): (clusterName: string) => string {
  const { workload, series = NO_SERIES } = route.useSearch();
  const all = useQuery({ ...seriesQuery(clusterId, workload ?? ""), enabled: workload !== undefined });
  const drawn = (all.data ?? []).filter(({ id }) => series.includes(id));
  return (clusterName) => trendTitle(drawn, clusterName);
}

/** The workload of the address, else that of the worst trend of the cluster, which then is in the address. */
function useWorkload(workloads: readonly Workload[]): { workload: Workload | undefined; isPending: boolean } {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const chosen = workloads.find(({ name }) => name === search.workload);
  const choice = { clusterId, workload: undefined, metric: undefined };
  const board = useQuery({ ...metricBoardQuery(choice), enabled: !chosen });
  const worst = board.data?.series[0]?.series;
  const found = chosen ? undefined : workloads.find(({ name }) => name === worst?.workload);
  const keep = useEffectEvent(() => {
    const view = { workload: worst?.workload, metric: worst?.metric, series: worst && [worst.id] };
    void navigate({ search: { ...search, ...view }, replace: true });
  });
  useEffect(() => {
    if (found) keep();
  }, [found]);
  return { workload: chosen ?? workloads[0], isPending: !chosen && (board.isPending || found !== undefined) };
}

function WorkloadTrend({ title, workloads }: { title: string; workloads: readonly Workload[] }) {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const view = route.useSearch();
  const { workload, isPending } = useWorkload(workloads);
  if (isPending) return <Skeleton aria-label={t`Loading`} height={380} role="status" />;
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
