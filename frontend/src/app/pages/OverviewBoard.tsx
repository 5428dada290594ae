import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/links";
import { LoggedIn } from "@/components/session";
import { AlertInbox } from "@/features/alerts/AlertInbox";
import { RunningCampaigns } from "@/features/campaigns/RunningCampaigns";
import { NextFirings } from "@/features/campaigns/schedules/NextFirings";
import StatusBoard from "@/features/overview/StatusBoard";

const route = getRouteApi("/shell/");

export default function OverviewBoard() {
  const { days } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <AlertInbox />
      <StatusBoard
        actionsOf={(clusterId) => (
          <LoggedIn>
            <ButtonLink
              search={{ cluster: clusterId }}
              size="compact-xs"
              to="/campaigns/new"
              variant="default"
            >{t`New campaign here`}</ButtonLink>
          </LoggedIn>
        )}
        days={days}
        onDays={(chosen) => void navigate({ search: { days: chosen }, replace: true })}
      />
      <RunningCampaigns />
      <NextFirings />
    </>
  );
}
