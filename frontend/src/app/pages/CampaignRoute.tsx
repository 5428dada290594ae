/** /campaigns/ID: the campaign with its runs. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { LoadedPage } from "@/components/LoadedPage";
import { CampaignView } from "@/features/campaigns/CampaignView";
import { campaignQuery } from "@/features/campaigns/queries";
import { ActiveRuns, RunsSection } from "@/features/runs/RunsSection";
import { ClusterTitles } from "./ClusterTitles";

const CampaignAdvice = lazy(() => import("@/features/advice/CampaignAdvice"));
const route = getRouteApi("/shell/campaigns/$campaignId");

export default function CampaignRoute() {
  const { campaignId } = route.useParams();
  const { tab = "results", state, figure = {} } = route.useSearch();
  const navigate = route.useNavigate();
  const campaign = useQuery(campaignQuery(campaignId));
  return (
    <ClusterTitles clusterId={campaign.data?.cluster_id}>
      <LoadedPage query={campaign} title={`Campaign ${campaignId}`}>
        {(found) => (
          <CampaignView
            activeRuns={<ActiveRuns campaignId={campaignId} count={found.counts.active} />}
            advice={
              <Suspense>
                <CampaignAdvice campaign={found} />
              </Suspense>
            }
            campaign={found}
            figure={figure}
            onFigure={(chosen) => void navigate({ search: { figure: chosen }, replace: true })}
            onTab={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
            runs={
              <RunsSection
                campaignId={campaignId}
                onState={(chosen) => void navigate({ search: { tab: "runs", state: chosen }, replace: true })}
                state={state}
              />
            }
            tab={tab}
          />
        )}
      </LoadedPage>
    </ClusterTitles>
  );
}
