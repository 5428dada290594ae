/** /nodes/ID: state and trends of a node, then its runs and facts. */

import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { EventHistory } from "@/components/events/EventHistory";
import { ButtonLink } from "@/components/links";
import { NodePage } from "@/features/clusters/NodePage";
import { OutlierNote } from "@/features/overview/OutlierNote";
import { LastRunNote } from "@/features/runs/LastRunNote";
import { LastRuns } from "@/features/runs/LastRuns";
import { ScratchSets } from "@/features/scratch/ScratchSets";
import { TargetsOfNode } from "@/features/targets/TargetsOfNode";
import { SubjectStatus } from "@/features/trends/SubjectStatus";
import { SubjectTrends } from "@/features/trends/SubjectTrends";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/nodes/$nodeId");

export default function NodeRoute() {
  const { nodeId } = route.useParams();
  const subject = { node_id: nodeId };
  return (
    <NodePage
      history={<EventHistory subject={subject} />}
      key={nodeId}
      links={({ cluster_id }) => (
        <ButtonLink
          search={{ cluster: cluster_id }}
          size="xs"
          to="/peers"
          variant="default"
        >{t`Peers`}</ButtonLink>
      )}
      nodeId={nodeId}
      runs={<LastRuns nodeId={nodeId} />}
      scratch={({ cluster_id, role, state }) =>
        role !== "gateway" && (
          <ScratchSets clusterId={cluster_id} isSilent={state === "silent"} nodeId={nodeId} />
        )
      }
      status={({ cluster_id }) => (
        <>
          <SubjectStatus clusterId={cluster_id} subject={subject} />
          <OutlierNote nodeId={nodeId} />
          <LastRunNote nodeId={nodeId} />
        </>
      )}
      targets={(node) => <TargetsOfNode clusterId={node.cluster_id} nodeId={nodeId} />}
      trends={({ cluster_id }) => (
        <ClusterTitles clusterId={cluster_id}>
          <SubjectTrends clusterId={cluster_id} subject={subject} />
        </ClusterTitles>
      )}
    />
  );
}
