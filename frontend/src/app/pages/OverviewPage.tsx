/** The first page: what runs now, then each cluster with its nodes and targets. */

import { Alert, Button, Divider, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Cluster } from "@/api/types";
import { DrainButton } from "@/components/drain/DrainButton";
import { DrainNote } from "@/components/drain/DrainNote";
import { drainsQuery } from "@/components/drain/queries";
import { Loaded } from "@/components/Loaded";
import { ButtonLink } from "@/components/links";
import { MadeUpBadge } from "@/components/MadeUp";
import { Page, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { RunningCampaigns } from "@/features/campaigns/RunningCampaigns";
import { NodesPanel } from "@/features/clusters/NodesPanel";
import { clustersQuery, nodesQuery } from "@/features/clusters/queries";
import { TargetsPanel } from "@/features/targets/TargetsPanel";

const BlackoutsPanel = lazy(() => import("@/features/clusters/BlackoutsPanel"));
const LauncherChoice = lazy(() => import("@/features/clusters/LauncherChoice"));
const CreateCluster = lazy(() => import("@/features/clusters/CreateCluster"));

const route = getRouteApi("/shell/");

export function OverviewPage() {
  const clusters = useQuery(clustersQuery);
  return (
    <Page
      actions={
        <>
          <DrainEverything />
          <NewCluster />
        </>
      }
      title="Overview"
    >
      <EverythingDrained />
      <RunningCampaigns />
      <Loaded empty={<FirstCluster />} isEmpty={(rows) => rows.length === 0} lines={6} query={clusters}>
        {(rows) => rows.map((cluster) => <ClusterSection cluster={cluster} key={cluster.id} />)}
      </Loaded>
    </Page>
  );
}

function useEverythingDrain() {
  const { data: drains = [] } = useQuery(drainsQuery);
  return drains.find(({ kind }) => kind === "all");
}

function EverythingDrained() {
  const drain = useEverythingDrain();
  if (!drain) return null;
  return (
    <Alert color="orange" title="Nothing new starts in any cluster" variant="light">
      <DrainNote drain={drain} />
    </Alert>
  );
}

function DrainEverything() {
  const drain = useEverythingDrain();
  const { data: clusters = [] } = useQuery(clustersQuery);
  if (clusters.length === 0) return null;
  return (
    <DrainButton
      clusterId={null}
      drain={drain}
      name="everything"
      size="sm"
      subject={{ kind: "all", id: 0 }}
    />
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
          <DrainButton
            clusterId={cluster.id}
            drain={cluster.drain}
            name={`cluster ${cluster.name}`}
            subject={{ kind: "cluster", id: cluster.id }}
          />
          <ButtonLink params={{ clusterId: cluster.id }} size="xs" to="/queues/$clusterId" variant="default">
            Queue
          </ButtonLink>
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
      description={
        <>
          <MadeUpBadge clusterId={cluster.id} /> {cluster.description}
        </>
      }
      title={`Cluster ${cluster.name}`}
    >
      <Stack>
        <DrainNote drain={cluster.drain} />
        <NodesPanel
          clusterId={cluster.id}
          onOpenNode={(nodeId) => void navigate({ search: { node: nodeId }, replace: true })}
          openNodeId={node}
        />
        <Divider />
        <TargetsPanel clusterId={cluster.id} hasNodes={(nodes.data ?? []).length > 0} />
        <Divider />
        <Suspense>
          <LauncherChoice cluster={cluster} />
          <BlackoutsPanel clusterId={cluster.id} />
        </Suspense>
      </Stack>
    </Section>
  );
}
