/** /campaigns */

import { getRouteApi } from "@tanstack/react-router";
import { CampaignsPage } from "@/features/campaigns/CampaignsPage";

const route = getRouteApi("/shell/campaigns");

export default function CampaignsRoute() {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  return <CampaignsPage onState={(chosen) => void navigate({ search: { state: chosen } })} state={state} />;
}
