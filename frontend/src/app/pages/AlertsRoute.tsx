/** /alerts: alerts of one or all clusters. Filters are in the address. */

import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { AlertsList } from "@/features/alerts/AlertsList";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/alerts");

export default function AlertsRoute() {
  const { cluster, ...view } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ClustersPage
      clusterId={cluster}
      onChoose={(chosen) => void navigate({ search: { ...view, cluster: chosen }, replace: true })}
      title={t`Alerts`}
    >
      {() => (
        <AlertsList
          clusterId={cluster}
          onView={(change) => void navigate({ search: { cluster, ...view, ...change }, replace: true })}
          view={view}
        />
      )}
    </ClustersPage>
  );
}
