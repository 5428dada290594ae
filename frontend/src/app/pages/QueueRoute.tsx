/** /queues/ID: what waits in a cluster. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { DrainNote } from "@/components/drain/DrainNote";
import { Page, Section } from "@/components/Page";
import { clustersQuery } from "@/features/clusters/queries";
import { QueueTable } from "@/features/runs/QueueTable";
import { ClusterChoice } from "./ClusterChoice";

const route = getRouteApi("/shell/queues/$clusterId");

export default function QueueRoute() {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const cluster = clusters.find(({ id }) => id === clusterId);
  return (
    <Page
      actions={
        <ClusterChoice
          clusterId={clusterId}
          clusters={clusters}
          onChoose={(chosen) => void navigate({ params: { clusterId: chosen } })}
        />
      }
      title={`Queue of ${cluster?.name ?? clusterId}`}
    >
      <DrainNote drain={cluster?.drain} />
      <Section
        description="In the order in which they are served; one that cannot start lets others pass."
        title="Waiting runs"
      >
        <QueueTable clusterId={clusterId} />
      </Section>
    </Page>
  );
}
