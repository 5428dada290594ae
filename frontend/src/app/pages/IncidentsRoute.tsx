/** /incidents: incidents of one or all clusters. Filters are in the address. */

import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { IncidentsList } from "@/features/alerts/IncidentsList";
import { addCause } from "./addCause";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/incidents");

export default function IncidentsRoute() {
  const { cluster, ...view } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ClustersPage
      clusterId={cluster}
      onChoose={(chosen) => void navigate({ search: { ...view, cluster: chosen }, replace: true })}
      title={t`Incidents`}
    >
      {() => (
        <IncidentsList
          clusterId={cluster}
          onView={(change) => void navigate({ search: { cluster, ...view, ...change }, replace: true })}
          renderAdd={addCause}
          view={view}
        />
      )}
    </ClustersPage>
  );
}
