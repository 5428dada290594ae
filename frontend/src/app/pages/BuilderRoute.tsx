/** /campaigns/new: gathers what the builder offers; ?from=ID starts from an earlier plan. */

import { Text } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CampaignPlan, Cluster } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { TextLink } from "@/components/links";
import { Page } from "@/components/Page";
import { CampaignBuilder } from "@/features/campaigns/builder/CampaignBuilder";
import { campaignQuery } from "@/features/campaigns/queries";
import { clustersQuery, nodesQuery } from "@/features/clusters/queries";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterChoice } from "./ClusterChoice";
import { NoCluster } from "./NoCluster";

const route = getRouteApi("/shell/campaigns/new");

export default function BuilderRoute() {
  const { cluster: wanted, from } = route.useSearch();
  const navigate = route.useNavigate();
  const clusters = useQuery(clustersQuery);
  const chosen = clusters.data?.find(({ id }) => id === wanted) ?? clusters.data?.[0];
  const original = useQuery({ ...campaignQuery(from ?? 0), enabled: from !== undefined });
  return (
    <Page
      actions={
        chosen && (
          <ClusterChoice
            clusterId={chosen.id}
            clusters={clusters.data ?? []}
            onChoose={(cluster) => void navigate({ search: { cluster }, replace: true })}
          />
        )
      }
      title="New campaign"
      trail={
        <TextLink to="/campaigns" underline="always">
          Campaigns
        </TextLink>
      }
    >
      <Loaded empty={<NoCluster />} isEmpty={(rows) => rows.length === 0} query={clusters}>
        {() =>
          chosen &&
          (from === undefined || !original.isPending) && (
            <>
              {original.error && <ErrorNotice error={original.error} />}
              <Builder cluster={chosen} key={`${chosen.id} ${from}`} original={original.data?.plan} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Builder({ cluster, original }: { cluster: Cluster; original: CampaignPlan | undefined }) {
  const navigate = route.useNavigate();
  const [nodes, targets, workloads] = useQueries({
    queries: [nodesQuery(cluster.id), targetsQuery(cluster.id), workloadsQuery(cluster.id)],
  });
  const failed = [nodes, targets, workloads].find(({ error }) => error);
  if (failed?.error) return <ErrorNotice error={failed.error} onRetry={failed.refetch} />;
  if (!nodes.data || !targets.data || !workloads.data)
    return <Text c="dimmed">Loading nodes, targets and workloads …</Text>;
  return (
    <CampaignBuilder
      cluster={cluster}
      nodes={nodes.data}
      onSubmitted={({ id }) => void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } })}
      original={original}
      targets={targets.data}
      workloads={workloads.data}
    />
  );
}
