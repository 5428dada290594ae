/** The first page: what runs now, then each cluster with its nodes and targets. */

import { Button, Divider, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Cluster } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { ButtonLink } from "@/components/links";
import { Page, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { RunningCampaigns } from "@/features/campaigns/RunningCampaigns";
import { NodesPanel } from "@/features/clusters/NodesPanel";
import { clustersQuery, nodesQuery } from "@/features/clusters/queries";
import { TargetsPanel } from "@/features/targets/TargetsPanel";

const CreateCluster = lazy(() => import("@/features/clusters/CreateCluster"));

const route = getRouteApi("/shell/");

export function OverviewPage() {
  const clusters = useQuery(clustersQuery);
  return (
    <Page actions={<NewCluster />} title="Overview">
      <RunningCampaigns />
      <Loaded empty={<FirstCluster />} isEmpty={(rows) => rows.length === 0} lines={6} query={clusters}>
        {(rows) => rows.map((cluster) => <ClusterSection cluster={cluster} key={cluster.id} />)}
      </Loaded>
    </Page>
  );
}

function NewCluster() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const mayCreate = useMay("admin", null);
  if (!mayCreate || clusters.length === 0) return null;
  return (
    <Stack>
      <Button aria-expanded={isOpen} onClick={toggle} variant="default" w="fit-content">
        New cluster
      </Button>
      <Suspense>{isOpen && <CreateCluster onDone={close} />}</Suspense>
    </Stack>
  );
}

function FirstCluster() {
  const mayCreate = useMay("admin", null);
  if (!mayCreate)
    return (
      <Text c="dimmed">
        There is no cluster that you may see. An admin makes one, or gives you a role in one.
      </Text>
    );
  return (
    <Section title="Start here">
      <Stack>
        <Text>
          A cluster groups the nodes that are measured together. Name the first one; then let a node join,
          tick the file systems to measure, and submit a campaign.
        </Text>
        <Suspense>
          <CreateCluster />
        </Suspense>
      </Stack>
    </Section>
  );
}

function ClusterSection({ cluster }: { cluster: Cluster }) {
  const nodes = useQuery(nodesQuery(cluster.id));
  const { node } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Section
      actions={
        <>
          <ButtonLink
            params={{ clusterId: cluster.id }}
            size="xs"
            to="/clusters/$clusterId/trend"
            variant="default"
          >
            Trend
          </ButtonLink>
          <ButtonLink search={{ cluster: cluster.id }} size="xs" to="/campaigns/new" variant="default">
            New campaign here
          </ButtonLink>
        </>
      }
      description={cluster.description}
      title={`Cluster ${cluster.name}`}
    >
      <Stack>
        <NodesPanel
          clusterId={cluster.id}
          onOpenNode={(nodeId) => void navigate({ search: { node: nodeId }, replace: true })}
          openNodeId={node}
        />
        <Divider />
        <TargetsPanel clusterId={cluster.id} hasNodes={(nodes.data ?? []).length > 0} />
      </Stack>
    </Section>
  );
}
