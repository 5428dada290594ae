/** /peers: the odd one out among equals of a cluster, choices in the address. */

import { t } from "@lingui/core/macro";
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Cluster } from "@/api/types";
import { PeerSections } from "@/features/comparison/PeerSections";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterPage } from "./ClusterPage";

const route = getRouteApi("/shell/peers");

export default function PeersRoute() {
  const { cluster: clusterId, workload } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ClusterPage
      actions={(cluster) => <WorkloadFilter cluster={cluster} />}
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ search: { cluster: chosen }, replace: true })}
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
    <NativeSelect
      aria-label={t`Workload`}
      data={[{ value: "", label: t`All workloads` }, ...workloads.map(({ name }) => name)]}
      onChange={({ currentTarget: { value } }) =>
        void navigate({ search: { cluster: cluster.id, workload: value || undefined }, replace: true })
      }
      value={workload ?? ""}
    />
  );
}
