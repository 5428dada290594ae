/** /queues/ID: waiting runs of a cluster. */

import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { DrainNote } from "@/components/drain/DrainButton";
import { Section } from "@/components/Page";
import { QueueTable } from "@/features/runs/QueueTable";
import { ClusterPage } from "./ClusterPage";

const route = getRouteApi("/shell/queues/$clusterId");

export default function QueueRoute() {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  return (
    <ClusterPage
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ params: { clusterId: chosen } })}
      title={(name) => t`Queue of ${name}`}
    >
      {({ drain }) => (
        <>
          <DrainNote drain={drain} />
          <Section
            description={t`In queue order. A run that cannot start yet does not block the runs behind it.`}
            title={t`Waiting runs`}
          >
            <QueueTable clusterId={clusterId} />
          </Section>
        </>
      )}
    </ClusterPage>
  );
}
