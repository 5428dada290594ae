/** /nodes/ID */

import { getRouteApi } from "@tanstack/react-router";
import { EventHistory } from "@/components/events/EventHistory";
import { NodePage } from "@/features/clusters/NodePage";
import { LastRuns } from "@/features/runs/LastRuns";
import { TargetsOfNode } from "@/features/targets/TargetsOfNode";

const route = getRouteApi("/shell/nodes/$nodeId");

export default function NodeRoute() {
  const { nodeId } = route.useParams();
  return (
    <NodePage
      history={<EventHistory subject={{ node_id: nodeId }} />}
      key={nodeId}
      nodeId={nodeId}
      runs={<LastRuns nodeId={nodeId} />}
      targets={(node) => <TargetsOfNode clusterId={node.cluster_id} nodeId={nodeId} />}
    />
  );
}
