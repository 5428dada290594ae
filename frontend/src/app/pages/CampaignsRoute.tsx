/** /campaigns: all choices are in the address. */

import { getRouteApi } from "@tanstack/react-router";
import { CampaignsPage } from "@/features/campaigns/CampaignsPage";

const route = getRouteApi("/shell/campaigns");

export default function CampaignsRoute() {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <CampaignsPage
      onView={(change) =>
        void navigate({ search: { ...view, ...change }, replace: true, resetScroll: false })
      }
      view={view}
    />
  );
}
