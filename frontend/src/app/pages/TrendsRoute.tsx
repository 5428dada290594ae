/** /trends: one metric over clusters and targets. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useMemo } from "react";
import type { Cluster, MetricBoard } from "@/api/types";
import { Loaded, Section } from "@/components/Page";
import { MetricTrends, metricTitleOf } from "@/features/trends/MetricTrends";
import type { PanelKind } from "@/features/trends/panels";
import { metricBoardQuery } from "@/features/trends/queries";
import { isTouch } from "@/plots/toolbar";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/trends");

export default function TrendsRoute() {
  const { cluster, workload, metric } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: board } = useQuery(metricBoardQuery({ clusterId: cluster, workload, metric }));
  return (
    <ClustersPage
      clusterId={cluster}
      onChoose={(chosen) =>
        void navigate({ search: (view) => ({ ...view, cluster: chosen, panels: undefined }) })
      }
      title={board?.workload ? t`Trends: ${metricTitleOf(board)} of ${board.workload}` : t`Trends`}
    >
      {(clusters) => <Trends clusters={clusters} />}
    </ClustersPage>
  );
}

function Trends({ clusters }: { clusters: readonly Cluster[] }) {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const board = useQuery(
    metricBoardQuery({ clusterId: view.cluster, workload: view.workload, metric: view.metric }),
  );
  useKeptChoice(board);
  const names = useMemo(() => new Map(clusters.map(({ id, name }) => [id, name])), [clusters]);
  return (
    <Loaded
      empty={t`No data points yet. Each finished configuration of a campaign adds one.`}
      isEmpty={({ measured }) => measured.length === 0}
      lines={8}
      query={board}
    >
      {(found) => (
        <Section
          description={[
            t`Worst first. Charts share a y scale unless they say “own scale”. Click a title for the full trend.`,
            ...(isTouch() ? [] : [t`Drag in a chart to zoom all of them.`]),
          ].join(" ")}
          title={titleOf(view.by ?? "target")}
        >
          <MetricTrends
            board={found}
            clusterNames={names}
            onView={(change) => void navigate({ search: { ...view, ...change }, replace: true })}
            view={view}
          />
        </Section>
      )}
    </Loaded>
  );
}

function titleOf(kind: PanelKind): string {
  return { target: t`Charts by target`, node: t`Charts by node`, cluster: t`Charts by cluster` }[kind];
}

/** Stores the server's choice in the address. Otherwise it would change with the states. */
function useKeptChoice({ data, isPlaceholderData }: UseQueryResult<MetricBoard>): void {
  const navigate = route.useNavigate();
  const { workload, metric } = route.useSearch();
  const found = isPlaceholderData ? undefined : data;
  const isOpen = workload === undefined || metric === undefined;
  const keep = useEffectEvent(() => {
    if (!found?.workload || !found.metric) return;
    const choice = { workload: found.workload, metric: found.metric };
    void navigate({ search: (view) => ({ ...view, ...choice }), replace: true });
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => {
    if (isOpen) keep();
  }, [isOpen, found]);
}
