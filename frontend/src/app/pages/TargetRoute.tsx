/** /targets/ID */

import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { EventHistory } from "@/components/events/EventHistory";
import { LastRuns } from "@/features/runs/LastRuns";
import { TargetPage } from "@/features/targets/TargetPage";

const TargetAdvice = lazy(() => import("@/features/advice/TargetAdvice"));
const route = getRouteApi("/shell/targets/$targetId");

export default function TargetRoute() {
  const { targetId } = route.useParams();
  return (
    <TargetPage
      advice={
        <Suspense>
          <TargetAdvice targetId={targetId} />
        </Suspense>
      }
      history={<EventHistory subject={{ target_id: targetId }} />}
      key={targetId}
      runs={<LastRuns targetId={targetId} />}
      targetId={targetId}
    />
  );
}
