/** /: the overview, or the first cluster's form. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Cluster } from "@/api/types";
import { DrainButton, DrainNote } from "@/components/drain/DrainButton";
import { drainsQuery } from "@/components/drain/queries";
import { Loaded, Loading, Page, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { clustersQuery } from "@/features/clusters/queries";

const OverviewBoard = lazy(() => import("./OverviewBoard"));
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
      title={t`Overview`}
    >
      <EverythingDrained />
      <Loaded empty={<FirstCluster />} isEmpty={(rows) => own(rows).length === 0} lines={6} query={clusters}>
        {() => (
          <Suspense fallback={<Loading lines={12} />}>
            <OverviewBoard />
          </Suspense>
        )}
      </Loaded>
    </Page>
  );
}

/** Published clusters have nothing to operate. */
function own(clusters: readonly Cluster[]): Cluster[] {
  return clusters.filter(({ origin }) => origin !== "published");
}

function useEverythingDrain() {
  const { data: drains = [] } = useQuery(drainsQuery);
  return drains.find(({ kind }) => kind === "all");
}

function EverythingDrained() {
  const drain = useEverythingDrain();
  if (!drain) return null;
  return (
    <Alert color="orange" title={t`No new runs start in any cluster`}>
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

/** Open the new cluster's page, which shows how to add a node. */
function useOpenCluster() {
  const navigate = route.useNavigate();
  return (clusterId: number) => void navigate({ to: "/clusters/$clusterId", params: { clusterId } });
}

function NewCluster() {
  const [isOpen, { toggle }] = useDisclosure();
  const openCluster = useOpenCluster();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const mayCreate = useMay("admin", null);
  if (!mayCreate || clusters.length === 0) return null;
  return (
    <Stack>
      <Button
        aria-expanded={isOpen}
        onClick={toggle}
        variant="default"
        w="fit-content"
      >{t`New cluster`}</Button>
      <Suspense>{isOpen && <CreateCluster onDone={openCluster} />}</Suspense>
    </Stack>
  );
}

function FirstCluster() {
  const openCluster = useOpenCluster();
  const mayCreate = useMay("admin", null);
  if (!mayCreate)
    return (
      <Text c="dimmed">
        {t`You have no access to any cluster. Ask an admin to create one or to give you a role in one.`}
      </Text>
    );
  return (
    <Section title={t`Start here`}>
      <Stack>
        <Text>
          <Trans>
            A cluster groups the nodes that are measured together. Create the first cluster, add a node,
            select the file systems to measure, and submit a campaign.
          </Trans>
        </Text>
        <Suspense>
          <CreateCluster onDone={openCluster} />
        </Suspense>
      </Stack>
    </Section>
  );
}
