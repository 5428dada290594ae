/** /campaigns/new: campaign builder; ?from=ID starts from an earlier plan. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { CampaignPlan, Cluster } from "@/api/types";
import ConfirmModal from "@/components/ConfirmModal";
import { TextLink } from "@/components/links";
import { OptionTitles } from "@/components/optionTitles";
import { ErrorNotice, Loaded, Page } from "@/components/Page";
import { usePrincipal } from "@/components/session";
import { CampaignBuilder } from "@/features/campaigns/builder/CampaignBuilder";
import { repeatOf, type StoredSchedule } from "@/features/campaigns/builder/calendar";
import { draftKey, type Origin, readKept } from "@/features/campaigns/builder/keptDraft";
import { remedied } from "@/features/campaigns/builder/remedies";
import type { BuilderStep } from "@/features/campaigns/builder/steps";
import { usualCluster } from "@/features/campaigns/builder/usualCluster";
import { campaignQuery, campaignsQuery } from "@/features/campaigns/queries";
import { scheduleQuery } from "@/features/campaigns/schedules/queries";
import { templateQuery } from "@/features/campaigns/templates/queries";
import { clustersQuery, nodesQuery } from "@/features/clusters/queries";
import { clusterScratchSetsQuery } from "@/features/scratch/queries";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";
import type { Remedy } from "@/lib/remedies";
import { ClusterChoice } from "./ClusterChoice";
import { NoCluster } from "./ClusterPage";

const route = getRouteApi("/shell/campaigns/new");

export default function BuilderRoute() {
  const { cluster: wanted, step = "what", ...origin } = route.useSearch();
  const { template, with: remedies, repeat } = origin;
  const key = draftKey(usePrincipal(), origin);
  const original = useOriginal(origin);
  const { clusters, own, chosen, isLoading } = useClusterOf(key, wanted, original);
  const plan = original.data?.plan ?? undefined;
  if (original.schedule && original.data?.plan === null)
    return <RemovedSchedule name={original.schedule.name} />;
  return (
    <Page
      actions={chosen && <DraftCluster clusters={own} current={chosen} draftKey={key} original={plan} />}
      title={titleOf(origin)}
      trail={
        repeat === undefined && origin.schedule === undefined ? (
          <TextLink to="/campaigns" underline="always">{t`Campaigns`}</TextLink>
        ) : (
          <ToSchedules />
        )
      }
    >
      <Loaded empty={<NoCluster />} isEmpty={() => own.length === 0} query={clusters}>
        {() =>
          chosen &&
          !isLoading && (
            <>
              {original.isLoadingError && <ErrorNotice error={original.error} />}
              <Builder
                cluster={chosen}
                draftKey={key}
                isNightly={repeat === "nightly"}
                key={`${chosen.id} ${key}`}
                original={plan}
                remedies={remedies ?? []}
                templateId={template}
                schedule={original.schedule}
                step={step}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function titleOf({ schedule, repeat }: Origin): string {
  if (schedule !== undefined) return t`Schedule`;
  return repeat === undefined ? t`New campaign` : t`New schedule`;
}

/** Nothing runs on published results or sample data. */
function isReal(origin: Cluster["origin"]): boolean {
  return origin !== "published" && origin !== "made_up";
}

/** Return the draft's cluster and those to choose from. A new campaign starts in the one used last. */
function useClusterOf(key: string, wanted: number | undefined, original: ReturnType<typeof useOriginal>) {
  const { name } = usePrincipal();
  const clusters = useQuery(clustersQuery);
  const chosenId = wanted ?? readKept(key)?.clusterId ?? original.data?.cluster_id;
  // A schedule of sample data opens where it is, to be read.
  const isSampleMeant = wanted !== undefined || original.schedule !== undefined;
  const given = clusters.data?.find(
    ({ id, origin }) => id === chosenId && (isReal(origin) || (origin === "made_up" && isSampleMeant)),
  );
  const isAsked = clusters.data !== undefined && given === undefined && !original.isLoading;
  const campaigns = useInfiniteQuery({ ...campaignsQuery({}), enabled: isAsked });
  const real = (clusters.data ?? []).filter(({ origin }) => isReal(origin));
  const isLoading = original.isLoading || (isAsked && campaigns.isLoading);
  const usual = isLoading ? undefined : usualCluster(real, campaigns.data ?? [], name);
  return {
    clusters,
    own: given && !real.includes(given) ? [given, ...real] : real,
    chosen: given ?? usual,
    isLoading,
  };
}

function ToSchedules() {
  return <TextLink to="/schedules" underline="always">{t`Schedules`}</TextLink>;
}

/** Campaigns of a deleted schedule still link here. Its plan is deleted too, so there is nothing to edit. */
function RemovedSchedule({ name }: { name: string }) {
  return (
    <Page title={t`Schedule ${name}`} trail={<ToSchedules />}>
      <Text>
        <Trans>
          This schedule was deleted. Its <TextLink to="/campaigns">campaigns</TextLink> keep their plans.
        </Trans>
      </Text>
    </Page>
  );
}

function useOriginal({ from, schedule: scheduleId, template: templateId }: Origin) {
  const campaign = useQuery({ ...campaignQuery(from ?? 0), enabled: from !== undefined });
  const stored = useQuery({ ...scheduleQuery(scheduleId ?? 0), enabled: scheduleId !== undefined });
  const template = useQuery({ ...templateQuery(templateId ?? 0), enabled: templateId !== undefined });
  const schedule = stored.data && { ...stored.data, repeat: repeatOf(stored.data) };
  if (scheduleId !== undefined) return { ...stored, schedule };
  return { ...(from === undefined ? template : campaign), schedule: undefined };
}

interface DraftClusterProps {
  readonly clusters: readonly Cluster[];
  readonly current: Cluster;
  readonly draftKey: string;
  readonly original: CampaignPlan | undefined;
}

/** Choice of the cluster. It asks before nodes and targets of another cluster are deselected. */
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
          isSafe
          body={t`Nodes and targets that ${asked.name} does not have are deselected. The rest of the draft is kept.`}
          no={t`Keep ${current.name}`}
          onClose={() => setAsked(undefined)}
          onConfirm={() => move(asked.id)}
          title={t`Switch to cluster ${asked.name}?`}
          yes={t`Switch to ${asked.name}`}
        />
      )}
    </>
  );
}

interface BuilderProps {
  readonly step: BuilderStep;
  readonly cluster: Cluster;
  readonly original: CampaignPlan | undefined;
  readonly isNightly: boolean;
  readonly schedule: StoredSchedule | undefined;
  readonly templateId: number | undefined;
  readonly draftKey: string;
  /** Changes of the original plan. */
  readonly remedies: readonly Remedy[];
}

function Builder({ cluster, original, remedies, ...props }: BuilderProps) {
  const navigate = route.useNavigate();
  const [nodes, targets, workloads] = useQueries({
    queries: [nodesQuery(cluster.id), targetsQuery(cluster.id), workloadsQuery(cluster.id)],
  });
  const scratchSets = useQuery(clusterScratchSetsQuery(cluster.id));
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
        <OptionTitles clusterId={cluster.id} workloads={found.workloads}>
          <CampaignBuilder
            {...found}
            {...props}
            cluster={cluster}
            scratchSets={scratchSets}
            onScheduled={() => void navigate({ to: "/schedules" })}
            onSubmitted={({ id }) =>
              void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } })
            }
            original={original && remedied(original, remedies, found)}
          />
        </OptionTitles>
      )}
    </Loaded>
  );
}
