import { t } from "@lingui/core/macro";
import { usePrefetchQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { ButtonLink } from "@/components/links";
import { Loading } from "@/components/Page";
import { LoggedIn } from "@/components/session";
import { RunningCampaigns } from "@/features/campaigns/RunningCampaigns";
import { NextFirings } from "@/features/campaigns/schedules/NextFirings";
import { throughputQuery, USUAL_DAYS } from "@/features/overview/queries";
import StatusBoard from "@/features/overview/StatusBoard";
import { ThroughputSection } from "@/features/overview/ThroughputSection";
import { preparePlots } from "@/plots/Plot";
import FirstSteps, { useFirstSteps } from "./FirstSteps";
import { openIncidents } from "./openIncidents";

const route = getRouteApi("/shell/");
/** A shorter plot would show too few days. */
const LEAST_PLOT_DAYS = 30;

export default function OverviewBoard() {
  const { days, ...choice } = route.useSearch();
  const navigate = route.useNavigate();
  const plotDays = Math.max(days ?? USUAL_DAYS, LEAST_PLOT_DAYS);
  const steps = useFirstSteps();
  usePrefetchQuery(throughputQuery(plotDays, choice));
  useEffect(preparePlots, []);
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
        days={plotDays}
        onChoice={(chosen) => void navigate({ search: { ...chosen, days }, replace: true })}
      />
      <RunningCampaigns />
      <NextFirings />
    </>
  );
}
