/** /targets/ID */

import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
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
      key={targetId}
      targetId={targetId}
    />
  );
}
