/** /peers: outliers among the peers of a cluster. Choices are in the address. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Cluster } from "@/api/types";
import { ChoiceFilter } from "@/components/filters";
import { PeerSections } from "@/features/comparison/PeerSections";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterPage } from "./ClusterPage";
import { CompareTabs } from "./PlaceTabs";

const route = getRouteApi("/shell/peers");

export default function PeersRoute() {
  const { cluster: clusterId, workload } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ClusterPage
      actions={(cluster) => <WorkloadFilter cluster={cluster} />}
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ search: { cluster: chosen }, replace: true })}
      tabs={<CompareTabs />}
      title={(name) => t`Peers of ${name}`}
    >
      {({ id }) => <PeerSections clusterId={id} workload={workload} />}
    </ClusterPage>
  );
}

function WorkloadFilter({ cluster }: { cluster: Cluster }) {
  const { workload } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workloads = [] } = useQuery(workloadsQuery(cluster.id));
  return (
    <ChoiceFilter
      all={t`All workloads`}
      choices={workloads.map(({ name }) => name)}
      label={t`Workload`}
      onChoose={(chosen) =>
        void navigate({ search: { cluster: cluster.id, workload: chosen }, replace: true })
      }
      size="sm"
      value={workload}
    />
  );
}
