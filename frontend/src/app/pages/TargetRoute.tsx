/** /targets/ID */

import { getRouteApi } from "@tanstack/react-router";
import { TargetPage } from "@/features/targets/TargetPage";

const route = getRouteApi("/shell/targets/$targetId");

export default function TargetRoute() {
  const { targetId } = route.useParams();
  return <TargetPage key={targetId} targetId={targetId} />;
}
