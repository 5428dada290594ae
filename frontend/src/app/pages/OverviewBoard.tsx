import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/links";
import { Loading } from "@/components/Page";
import { LoggedIn } from "@/components/session";
import { RunningCampaigns } from "@/features/campaigns/RunningCampaigns";
import { NextFirings } from "@/features/campaigns/schedules/NextFirings";
import { plotDaysOf } from "@/features/overview/queries";
import StatusBoard from "@/features/overview/StatusBoard";
import { ThroughputSection } from "@/features/overview/ThroughputSection";
import FirstSteps, { useFirstSteps } from "./FirstSteps";
import { openIncidents } from "./openIncidents";

const route = getRouteApi("/shell/");

export default function OverviewBoard() {
  const { days, ...choice } = route.useSearch();
  const navigate = route.useNavigate();
  const steps = useFirstSteps();
  if (steps === undefined) return <Loading lines={12} />;
  if (steps !== null) return <FirstSteps steps={steps} />;
  return (
    <>
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
        onDays={(chosen) => void navigate({ search: { ...choice, days: chosen }, replace: true })}
        renderIncidents={openIncidents}
      />
      <ThroughputSection
        choice={choice}
        days={plotDaysOf(days)}
        onChoice={(chosen) => void navigate({ search: { ...chosen, days }, replace: true })}
      />
      <RunningCampaigns />
      <NextFirings />
    </>
  );
}
