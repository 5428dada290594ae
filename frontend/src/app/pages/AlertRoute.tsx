/** /alerts/ID: the alert, the trend of its series, and the form to add an event. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { LoadedPage } from "@/components/Page";
import { AlertView } from "@/features/alerts/AlertView";
import { alertQuery } from "@/features/alerts/queries";
import { SeriesTrend } from "@/features/trends/SeriesTrend";
import { AddEvent } from "./AddEvent";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/alerts/$alertId");

export default function AlertRoute() {
  const { alertId } = route.useParams();
  const navigate = route.useNavigate();
  const query = useQuery(alertQuery(alertId));
  return (
    <ClusterTitles clusterId={query.data?.alert.cluster_id}>
      <LoadedPage query={query} title={t`Alert ${alertId}`}>
        {(detail) => {
          const { cluster_id: clusterId, cluster_name: name, series, change, at } = detail.alert;
          return (
            <AlertView
              detail={detail}
              renderAdd={(onAdded) => (
                <AddEvent
                  chosen={{ nodes: series.node_names, targets: series.target_names }}
                  cluster={{ id: clusterId, name }}
                  onAdded={({ id }) => onAdded(id)}
                />
              )}
              trend={
                <SeriesTrend
                  at={at}
                  chosenCellId={change?.cell_id}
                  onChoose={(cell) =>
                    void navigate({
                      to: "/clusters/$clusterId/trend",
                      params: { clusterId },
                      search: { workload: series.workload, metric: series.metric, series: [series.id], cell },
                    })
                  }
                  seriesId={series.id}
                />
              }
            />
          );
        }}
      </LoadedPage>
    </ClusterTitles>
  );
}
