/** /clusters/ID: status, nodes, targets and maintenance windows of a cluster. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Cluster } from "@/api/types";
import { DrainButton, DrainNote } from "@/components/drain/DrainButton";
import { ButtonLink } from "@/components/links";
import { LoggedIn } from "@/components/session";
import LauncherChoice from "@/features/clusters/LauncherChoice";
import MaintenancePanel from "@/features/clusters/MaintenancePanel";
import { NodesPanel } from "@/features/clusters/NodesPanel";
import { nodeLinesQuery } from "@/features/clusters/queries";
import StatusBoard from "@/features/overview/StatusBoard";
import { TargetsPanel } from "@/features/targets/TargetsPanel";
import { ClusterPage } from "./ClusterPage";
import { openIncidents } from "./openIncidents";

const route = getRouteApi("/shell/clusters/$clusterId");

export default function ClusterRoute() {
  const { clusterId } = route.useParams();
  const { days } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <ClusterPage
      actions={(cluster) => <Actions cluster={cluster} />}
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ params: { clusterId: chosen } })}
      title={(name) => t`Cluster ${name}`}
    >
      {(cluster) => (
        <>
          {cluster.description && <Text>{cluster.description}</Text>}
          {cluster.origin === "published" ? (
            <Published cluster={cluster} />
          ) : (
            <>
              <LauncherChoice cluster={cluster} key={t`launcher ${cluster.id}`} />
              <DrainNote drain={cluster.drain} />
              <StatusBoard
                clusterId={clusterId}
                days={days}
                onDays={(chosen) => void navigate({ search: { days: chosen }, replace: true })}
                renderIncidents={openIncidents}
              />
              <Places cluster={cluster} key={cluster.id} />
            </>
          )}
        </>
      )}
    </ClusterPage>
  );
}

/** A published cluster was measured by others and has nothing to operate. */
function Published({ cluster }: { cluster: Cluster }) {
  return (
    <>
      <ButtonLink
        search={{ cluster: cluster.id }}
        to="/published"
        variant="default"
        w="fit-content"
      >{t`Source and figures`}</ButtonLink>
      <TargetsPanel clusterId={cluster.id} hasNodes />
    </>
  );
}

function Actions({ cluster }: { cluster: Cluster }) {
  const clusterId = cluster.id;
  return (
    <>
      <DrainButton
        clusterId={clusterId}
        drain={cluster.drain}
        name={t`cluster ${cluster.name}`}
        subject={{ kind: "cluster", id: clusterId }}
      />
      <ButtonLink
        params={{ clusterId }}
        size="xs"
        to="/queues/$clusterId"
        variant="default"
      >{t`Queue`}</ButtonLink>
      <ButtonLink
        params={{ clusterId }}
        size="xs"
        to="/clusters/$clusterId/trend"
        variant="default"
      >{t`Trend`}</ButtonLink>
      <ButtonLink
        search={{ cluster: clusterId }}
        size="xs"
        to="/peers"
        variant="default"
      >{t`Peers`}</ButtonLink>
      <LoggedIn>
        <ButtonLink
          search={{ cluster: clusterId }}
          size="xs"
          to="/campaigns/new"
          variant="default"
        >{t`New campaign here`}</ButtonLink>
      </LoggedIn>
    </>
  );
}

function Places({ cluster }: { cluster: Cluster }) {
  const nodes = useQuery(nodeLinesQuery(cluster.id));
  return (
    <>
      <NodesPanel clusterId={cluster.id} />
      <TargetsPanel clusterId={cluster.id} hasNodes={(nodes.data ?? []).length > 0} />
      <MaintenancePanel clusterId={cluster.id} />
    </>
  );
}
