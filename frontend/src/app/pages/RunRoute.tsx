/** /runs/ID */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { runQuery } from "@/features/runs/queries";
import { RunPage } from "@/features/runs/RunPage";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/runs/$runId");

export default function RunRoute() {
  const { runId } = route.useParams();
  const { curves } = route.useSearch();
  const navigate = route.useNavigate();
  const run = useQuery(runQuery(runId));
  return (
    <ClusterTitles clusterId={run.data?.cluster_id}>
      <RunPage
        curves={curves}
        key={runId}
        onCurves={(chosen) =>
          void navigate({ search: { curves: chosen }, replace: true, resetScroll: false })
        }
        runId={runId}
      />
    </ClusterTitles>
  );
}
