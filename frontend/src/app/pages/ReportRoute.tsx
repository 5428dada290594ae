/** /campaigns/ID/report: the campaign as a printable page. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { LoadedPage } from "@/components/Page";
import { campaignQuery } from "@/features/campaigns/queries";
import { CampaignReport } from "@/features/campaigns/report/CampaignReport";
import { ReportRuns } from "@/features/runs/ReportRuns";
import { PaperCampaignAnswer } from "./CampaignAnswer";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/campaigns/$campaignId/report");

export default function ReportRoute() {
  const { campaignId } = route.useParams();
  const campaign = useQuery(campaignQuery(campaignId));
  return (
    <ClusterTitles clusterId={campaign.data?.cluster_id}>
      <LoadedPage query={campaign} title={t`Report of campaign ${campaignId}`}>
        {(found) => (
          <CampaignReport
            answer={<PaperCampaignAnswer campaign={found} />}
            campaign={found}
            runs={<ReportRuns campaignId={campaignId} />}
          />
        )}
      </LoadedPage>
    </ClusterTitles>
  );
}
