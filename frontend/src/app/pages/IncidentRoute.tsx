/** /incidents/ID */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { LoadedPage } from "@/components/Page";
import { IncidentView } from "@/features/alerts/IncidentView";
import { incidentQuery } from "@/features/alerts/queries";
import { addCause } from "./addCause";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/incidents/$incidentId");

export default function IncidentRoute() {
  const { incidentId } = route.useParams();
  const query = useQuery(incidentQuery(incidentId));
  return (
    <ClusterTitles clusterId={query.data?.incident.cluster_id}>
      <LoadedPage query={query} title={t`Incident ${incidentId}`}>
        {(detail) => <IncidentView detail={detail} renderAdd={addCause} />}
      </LoadedPage>
    </ClusterTitles>
  );
}
