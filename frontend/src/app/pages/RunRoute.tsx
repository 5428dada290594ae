/** /runs/ID */

import { getRouteApi } from "@tanstack/react-router";
import { RunPage } from "@/features/runs/RunPage";

const route = getRouteApi("/shell/runs/$runId");

export default function RunRoute() {
  const { runId } = route.useParams();
  return <RunPage key={runId} runId={runId} />;
}
