/** Steps of a new installation up to its first campaign. */

import { t } from "@lingui/core/macro";
import { Group, Stack, Text, ThemeIcon } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { Icon } from "@/components/Icon";
import { ButtonLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { campaignsQuery } from "@/features/campaigns/queries";
import { boardQuery, USUAL_DAYS } from "@/features/overview/queries";

const CreateCluster = lazy(() => import("@/features/clusters/CreateCluster"));

const route = getRouteApi("/shell/");

export interface Steps {
  /** The first cluster; null if there is none. */
  readonly cluster: { readonly id: number; readonly name: string } | null;
  readonly nodeCount: number;
}

/** Return null once there are a node and a campaign, undefined while that is unknown. */
export function useFirstSteps(): Steps | null | undefined {
  const { days = USUAL_DAYS } = route.useSearch();
  const board = useQuery(boardQuery(days));
  const hasSamples = useClusters().some(({ origin }) => origin === "made_up");
  const hasCells = (board.data?.cells.length ?? 0) > 0;
  const campaigns = useInfiniteQuery({
    ...campaignsQuery({}),
    enabled: board.data !== undefined && !hasCells,
  });
  // The sections show errors.
  if (hasCells || hasSamples || board.error || campaigns.error) return null;
  if (!board.data || !campaigns.data) return undefined;
  const { clusters } = board.data;
  const nodeCount = clusters
    .map(({ nodes: { online, stuck, silent, never_seen } }) => online + stuck + silent + never_seen)
    .reduce((sum, count) => sum + count, 0);
  return nodeCount > 0 && campaigns.data.length > 0 ? null : { cluster: clusters[0] ?? null, nodeCount };
}

export default function FirstSteps({ steps: { cluster, nodeCount } }: { steps: Steps }) {
  const next = cluster === null ? 1 : nodeCount === 0 ? 2 : 3;
  const nodes = nodeCount === 1 ? t`1 node is enrolled.` : t`${nodeCount} nodes are enrolled.`;
  return (
    <Section title={t`Start here`}>
      <Stack component="ol" gap="md" m={0} p={0} style={{ listStyle: "none" }}>
        <Step
          done={cluster && t`Cluster ${cluster.name} exists.`}
          next={next}
          number={1}
          title={t`Create a cluster`}
        >
          <Hint>{t`A cluster groups the nodes that are measured together.`}</Hint>
          <FirstCluster />
        </Step>
        <Step done={nodeCount > 0 && nodes} next={next} number={2} title={t`Add a node`}>
          <Hint>{t`The cluster's page shows the command that installs and enrols an agent.`}</Hint>
          {cluster && next === 2 && (
            <ButtonLink
              params={{ clusterId: cluster.id }}
              to="/clusters/$clusterId"
            >{t`Add a node`}</ButtonLink>
          )}
        </Step>
        <Step done={false} next={next} number={3} title={t`Run a first campaign`}>
          <Hint>{t`Select nodes, targets and workloads. The preview shows duration and space before it starts.`}</Hint>
          {cluster && next === 3 && (
            <ButtonLink
              search={{ cluster: cluster.id }}
              to="/campaigns/new"
            >{t`Run a first campaign`}</ButtonLink>
          )}
        </Step>
      </Stack>
    </Section>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  /** The number of the step to do now. */
  readonly next: number;
  /** Result of the step; falsy if it is not done. */
  readonly done: string | false | null;
  /** Instructions, shown while the step is not done. */
  readonly children: ReactNode;
}

function Step({ number, title, next, done, children }: StepProps) {
  return (
    <Group
      align="flex-start"
      aria-current={number === next ? "step" : undefined}
      component="li"
      wrap="nowrap"
    >
      <ThemeIcon color={done ? "green" : number === next ? "tide" : "gray"} radius="xl" variant="light">
        {done ? <Icon name="check" /> : number}
      </ThemeIcon>
      <Stack align="flex-start" flex={1} gap={4}>
        <Text fw={600}>{title}</Text>
        {done ? <Hint>{t`Done: ${done}`}</Hint> : children}
      </Stack>
    </Group>
  );
}

/** Opens the new cluster's page, which shows how to add a node. */
function FirstCluster() {
  const navigate = route.useNavigate();
  const mayCreate = useMay("admin", null);
  if (!mayCreate)
    return (
      <Text c="dimmed">
        {t`You have no access to any cluster. Ask an admin to create one or to give you a role in one.`}
      </Text>
    );
  return (
    <Suspense>
      <CreateCluster
        onDone={(clusterId) => void navigate({ to: "/clusters/$clusterId", params: { clusterId } })}
      />
    </Suspense>
  );
}
