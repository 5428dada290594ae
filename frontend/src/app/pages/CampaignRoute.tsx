/** /campaigns/ID */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import type { Campaign } from "@/api/types";
import { LoadedPage } from "@/components/Page";
import { CampaignView } from "@/features/campaigns/CampaignView";
import { activePreparations } from "@/features/campaigns/preparations";
import { campaignQuery } from "@/features/campaigns/queries";
import { WaitingRuns } from "@/features/runs/QueueTable";
import { RetryFailed } from "@/features/runs/RetryFailed";
import { ActiveRuns, RunsSection } from "@/features/runs/RunsSection";
import { CampaignAnswer } from "./CampaignAnswer";
import { ClusterTitles } from "./ClusterTitles";

const AddRepeats = lazy(() => import("@/features/campaigns/AddRepeats"));
const CampaignAdvice = lazy(() => import("@/features/advice/CampaignAdvice"));
const TimelineSection = lazy(() => import("@/features/campaigns/TimelineSection"));
const route = getRouteApi("/shell/campaigns/$campaignId");

export default function CampaignRoute() {
  const { campaignId } = route.useParams();
  const search = route.useSearch();
  const { tab = "results", state, figure = {}, repeats } = search;
  const navigate = route.useNavigate();
  const campaign = useQuery(campaignQuery(campaignId));
  const ask = (cellIds: readonly number[] | undefined) =>
    void navigate({ search: { ...search, repeats: cellIds }, replace: true, resetScroll: false });
  return (
    <ClusterTitles clusterId={campaign.data?.cluster_id}>
      <LoadedPage query={campaign} title={t`Campaign ${campaignId}`}>
        {(found) => (
          <>
            <CampaignView
              activeRuns={
                <ActiveRuns campaignId={campaignId} count={found.counts.active + activePreparations(found)} />
              }
              answer={<Answer campaign={found} onRepeats={() => ask([])} />}
              advice={
                <Suspense>
                  <CampaignAdvice campaign={found} />
                </Suspense>
              }
              campaign={found}
              figure={figure}
              onFigure={(chosen) => void navigate({ search: { figure: chosen }, replace: true })}
              onRepeats={ask}
              onTab={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
              runs={
                <RunsSection
                  campaignId={campaignId}
                  onState={(chosen) =>
                    void navigate({ search: { tab: "runs", state: chosen }, replace: true })
                  }
                  state={state}
                />
              }
              retryFailed={<RetryFailed campaign={found} />}
              tab={tab}
              timeline={<CampaignTimeline campaign={found} />}
              waitingRuns={<WaitingRuns campaignId={campaignId} clusterId={found.cluster_id} />}
            />
            <Suspense>
              {repeats && <AddRepeats campaign={found} cellIds={repeats} onClose={() => ask(undefined)} />}
            </Suspense>
          </>
        )}
      </LoadedPage>
    </ClusterTitles>
  );
}

function Answer({ campaign, onRepeats }: { campaign: Campaign; onRepeats: () => void }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <CampaignAnswer
      campaign={campaign}
      chosen={search.answer}
      onChoose={(answer) =>
        void navigate({ search: { ...search, answer }, replace: true, resetScroll: false })
      }
      onRepeats={onRepeats}
    />
  );
}

function CampaignTimeline({ campaign }: { campaign: Campaign }) {
  const { from, to } = route.useSearch();
  const span = useMemo(() => ({ from, to }), [from, to]);
  const navigate = route.useNavigate();
  return (
    <Suspense>
      <TimelineSection
        campaign={campaign}
        onRun={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
        onSpan={(chosen) =>
          void navigate({ search: { tab: "timeline", ...chosen }, replace: true, resetScroll: false })
        }
        span={span}
      />
    </Suspense>
  );
}
