/** /campaigns/new: gathers what the builder offers; ?from=ID starts from an earlier plan. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { CampaignPlan, Cluster } from "@/api/types";
import ConfirmModal from "@/components/ConfirmModal";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { TextLink } from "@/components/links";
import { OptionTitles } from "@/components/optionTitles";
import { Page } from "@/components/Page";
import { usePrincipal } from "@/components/session";
import { CampaignBuilder } from "@/features/campaigns/builder/CampaignBuilder";
import { repeatOf, type StoredSchedule } from "@/features/campaigns/builder/calendar";
import { draftKey, readKept } from "@/features/campaigns/builder/keptDraft";
import { campaignQuery } from "@/features/campaigns/queries";
import { scheduleQuery } from "@/features/campaigns/schedules/queries";
import { clustersQuery, nodesQuery } from "@/features/clusters/queries";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterChoice } from "./ClusterChoice";
import { NoCluster } from "./NoCluster";

const route = getRouteApi("/shell/campaigns/new");

export default function BuilderRoute() {
  const { cluster: wanted, from, schedule: scheduleId } = route.useSearch();
  const key = draftKey(usePrincipal(), from, scheduleId);
  const clusters = useQuery(clustersQuery);
  const original = useOriginal(from, scheduleId);
  const chosenId = wanted ?? readKept(key)?.clusterId ?? original.data?.cluster_id;
  const chosen = clusters.data?.find(({ id }) => id === chosenId) ?? clusters.data?.[0];
  const plan = original.data?.plan;
  return (
    <Page
      actions={
        chosen && (
          <DraftCluster clusters={clusters.data ?? []} current={chosen} draftKey={key} original={plan} />
        )
      }
      title={scheduleId === undefined ? "New campaign" : "Schedule"}
      trail={
        <TextLink to={scheduleId === undefined ? "/campaigns" : "/schedules"} underline="always">
          {scheduleId === undefined ? "Campaigns" : "Schedules"}
        </TextLink>
      }
    >
      <Loaded empty={<NoCluster />} isEmpty={(rows) => rows.length === 0} query={clusters}>
        {() =>
          chosen &&
          !original.isLoading && (
            <>
              {original.isLoadingError && <ErrorNotice error={original.error} />}
              <Builder
                cluster={chosen}
                draftKey={key}
                key={`${chosen.id} ${from} ${scheduleId}`}
                original={plan}
                schedule={original.schedule}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The campaign or the schedule that the draft begins as, if any. */
function useOriginal(from: number | undefined, scheduleId: number | undefined) {
  const campaign = useQuery({ ...campaignQuery(from ?? 0), enabled: from !== undefined });
  const stored = useQuery({ ...scheduleQuery(scheduleId ?? 0), enabled: scheduleId !== undefined });
  const schedule = stored.data && { ...stored.data, repeat: repeatOf(stored.data) };
  return scheduleId === undefined ? { ...campaign, schedule: undefined } : { ...stored, schedule };
}

interface DraftClusterProps {
  readonly clusters: readonly Cluster[];
  readonly current: Cluster;
  readonly draftKey: string;
  readonly original: CampaignPlan | undefined;
}

/** Another cluster has other nodes and targets, so it asks before those that are chosen go. */
function DraftCluster({ clusters, current, draftKey, original }: DraftClusterProps) {
  const navigate = route.useNavigate();
  const [asked, setAsked] = useState<Cluster>();
  function move(cluster: number): void {
    void navigate({ search: (search) => ({ ...search, cluster }), replace: true });
  }
  function choose(id: number): void {
    const { nodes = [], targets = [] } = readKept(draftKey)?.draft ?? original ?? {};
    if (nodes.length + targets.length > 0) setAsked(clusters.find((cluster) => cluster.id === id));
    else move(id);
  }
  return (
    <>
      <ClusterChoice clusterId={current.id} clusters={clusters} onChoose={choose} />
      {asked && (
        <ConfirmModal
          body={`Nodes and targets of ${current.name} that ${asked.name} lacks are no longer chosen. The rest of the draft stays.`}
          no={`Stay with ${current.name}`}
          onClose={() => setAsked(undefined)}
          onConfirm={() => move(asked.id)}
          title={`Build it for ${asked.name}?`}
          yes={`Change to ${asked.name}`}
        />
      )}
    </>
  );
}

interface BuilderProps {
  readonly cluster: Cluster;
  readonly original: CampaignPlan | undefined;
  readonly schedule: StoredSchedule | undefined;
  readonly draftKey: string;
}

function Builder({ cluster, ...props }: BuilderProps) {
  const navigate = route.useNavigate();
  const [nodes, targets, workloads] = useQueries({
    queries: [nodesQuery(cluster.id), targetsQuery(cluster.id), workloadsQuery(cluster.id)],
  });
  const all = [nodes, targets, workloads];
  const worst = all.find(({ isLoadingError }) => isLoadingError) ?? all.find(({ error }) => error) ?? nodes;
  const offered = nodes.data &&
    targets.data &&
    workloads.data && {
      nodes: nodes.data.filter(({ role }) => role !== "gateway"),
      targets: targets.data,
      workloads: workloads.data,
    };
  return (
    <Loaded lines={8} query={{ ...worst, data: offered }}>
      {(found) => (
        <OptionTitles workloads={found.workloads}>
          <CampaignBuilder
            {...found}
            {...props}
            cluster={cluster}
            onScheduled={() => void navigate({ to: "/schedules" })}
            onSubmitted={({ id }) =>
              void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } })
            }
          />
        </OptionTitles>
      )}
    </Loaded>
  );
}
