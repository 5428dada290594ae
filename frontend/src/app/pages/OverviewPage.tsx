/** /: the overview, or the first steps of a new installation. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import type { Cluster } from "@/api/types";
import { DrainButton, DrainNote } from "@/components/drain/DrainButton";
import { drainsQuery } from "@/components/drain/queries";
import { ButtonLink } from "@/components/links";
import { Loaded, Loading, Page } from "@/components/Page";
import { preloadable } from "@/components/preloadable";
import { LoggedIn, useMay } from "@/components/session";
import { clustersQuery } from "@/features/clusters/queries";
import { BoardSummary } from "@/features/overview/BoardSummary";
import { plotDaysOf, throughputQuery } from "@/features/overview/queries";
import { preparePlots } from "@/plots/prepare";

const board = preloadable(() => import("./OverviewBoard"));
const CreateCluster = lazy(() => import("@/features/clusters/CreateCluster"));
const FirstSteps = lazy(() => import("./FirstSteps"));

const route = getRouteApi("/shell/");
const NO_CLUSTER = { cluster: null, nodeCount: 0 };

export function OverviewPage() {
  const clusters = useQuery(clustersQuery);
  const { days, ...choice } = route.useSearch();
  usePrefetchQuery(throughputQuery(plotDaysOf(days), choice));
  useEffect(prepareBoard, []);
  return (
    <Page
      actions={
        <>
          <DrainEverything />
          <NewCluster />
          <NewCampaign />
        </>
      }
      status={<BoardSummary days={days} />}
      title={t`Overview`}
    >
      <EverythingDrained />
      <Loaded
        empty={
          <Suspense fallback={<Loading lines={12} />}>
            <FirstSteps steps={NO_CLUSTER} />
          </Suspense>
        }
        isEmpty={(rows) => own(rows).length === 0}
        lines={6}
        query={clusters}
      >
        {() => (
          <Suspense fallback={<Loading lines={12} />}>
            <board.View />
          </Suspense>
        )}
      </Loaded>
    </Page>
  );
}

/** Loads code while the clusters are loading, but not before the first paint. */
function prepareBoard(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(() => {
      board.preload();
      preparePlots();
    });
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
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

function NewCampaign() {
  const { data: clusters = [] } = useQuery(clustersQuery);
  if (own(clusters).length === 0) return null;
  return (
    <LoggedIn>
      <ButtonLink to="/campaigns/new">{t`New campaign`}</ButtonLink>
    </LoggedIn>
  );
}
