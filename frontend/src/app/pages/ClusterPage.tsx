/** Frame of pages about one or all clusters: heading, cluster choice, option titles. */

import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Cluster } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { Loaded, Page } from "@/components/Page";
import { clustersQuery } from "@/features/clusters/queries";
import { ClusterChoice, ClusterFilter } from "./ClusterChoice";
import { ClusterTitles } from "./ClusterTitles";

interface ClusterPageProps {
  /** Takes the name of the cluster, for example “Queue of hpc1”. */
  readonly title: (name: string) => string;
  /** Undefined: the first cluster. */
  readonly clusterId: number | undefined;
  readonly onChoose: (clusterId: number) => void;
  readonly actions?: (cluster: Cluster) => ReactNode;
  readonly tabs?: ReactNode;
  readonly children: (cluster: Cluster) => ReactNode;
}

export function ClusterPage({ title, clusterId, onChoose, actions, tabs, children }: ClusterPageProps) {
  const clusters = useQuery(clustersQuery);
  const known = clusters.data ?? [];
  const first = known.find(({ origin }) => origin !== "published") ?? known[0];
  const chosen = clusterId === undefined ? first : known.find(({ id }) => id === clusterId);
  return (
    <Page
      actions={
        chosen && (
          <>
            {actions?.(chosen)}
            <ClusterChoice clusterId={chosen.id} clusters={known} onChoose={onChoose} />
          </>
        )
      }
      title={title(chosen?.name ?? String(clusterId ?? ""))}
    >
      {tabs}
      <Loaded empty={<NoCluster />} lines={8} query={clusters}>
        {() =>
          chosen ? (
            <ClusterTitles clusterId={chosen.id}>{children(chosen)}</ClusterTitles>
          ) : (
            <Text c="dimmed">{t`Cluster ${clusterId ?? ""} does not exist, or you have no access to it.`}</Text>
          )
        }
      </Loaded>
    </Page>
  );
}

interface ClustersPageProps {
  readonly title: string;
  /** Undefined: all clusters. */
  readonly clusterId: number | undefined;
  readonly onChoose: (clusterId: number | undefined) => void;
  readonly children: (clusters: readonly Cluster[]) => ReactNode;
}

export function ClustersPage({ title, clusterId, onChoose, children }: ClustersPageProps) {
  const clusters = useQuery(clustersQuery);
  return (
    <Page
      actions={
        clusters.data &&
        clusters.data.length > 0 && (
          <ClusterFilter clusterId={clusterId} clusters={clusters.data} onChoose={onChoose} />
        )
      }
      title={title}
    >
      <Loaded empty={<NoCluster />} lines={8} query={clusters}>
        {(rows) => <ClusterTitles clusterId={clusterId}>{children(rows)}</ClusterTitles>}
      </Loaded>
    </Page>
  );
}

export function NoCluster() {
  return (
    <Stack align="flex-start">
      <Text>{t`No clusters yet.`}</Text>
      <ButtonLink to="/">{t`Create a cluster`}</ButtonLink>
    </Stack>
  );
}
