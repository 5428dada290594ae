/** /trends: one metric over clusters and targets. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Cluster } from "@/api/types";
import { Loaded, Section } from "@/components/Page";
import { MetricTrends, metricTitleOf } from "@/features/trends/MetricTrends";
import { metricBoardQuery } from "@/features/trends/queries";
import { preparePlots } from "@/plots/Plot";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/trends");

export default function TrendsRoute() {
  const { cluster, workload, metric } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: board } = useQuery(metricBoardQuery({ clusterId: cluster, workload, metric }));
  useEffect(preparePlots, []);
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
          description={t`Worst first. Click a title to open the full trend; drag in a chart to zoom all of them.`}
          title={t`Charts`}
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
