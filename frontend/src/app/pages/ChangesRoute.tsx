/** /changes: changes in one or all clusters. Filters are in the address. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ChangesList } from "@/features/trends/ChangesList";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/changes");

export default function ChangesRoute() {
  const { cluster, ...view } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workloads = [] } = useQuery(workloadsQuery(cluster));
  return (
    <ClustersPage
      clusterId={cluster}
      onChoose={(chosen) => void navigate({ search: { ...view, cluster: chosen }, replace: true })}
      title={t`Changes`}
    >
      {(clusters) => (
        <ChangesList
          clusterId={cluster}
          clusters={clusters}
          onView={(change) => void navigate({ search: { cluster, ...view, ...change }, replace: true })}
          view={view}
          workloads={[...new Set(workloads.map(({ name }) => name))].sort()}
        />
      )}
    </ClustersPage>
  );
}
