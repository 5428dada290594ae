import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { ListedCampaign } from "@/api/types";
import { CampaignLink, TextLink } from "@/components/links";
import { activePreparations } from "./preparations";
import { campaignsQuery } from "./queries";

const MOST_SHOWN = 5;

/** Running, paused and waiting campaigns in one line; hidden without any. */
export function RunningCampaigns() {
  const { data: active = [] } = useInfiniteQuery(campaignsQuery({ state: "active" }));
  const { data: waiting = [] } = useInfiniteQuery(campaignsQuery({ state: "waiting" }));
  const { data: paused = [] } = useInfiniteQuery(campaignsQuery({ state: "paused" }));
  const all = [...paused, ...active, ...waiting];
  if (all.length === 0) return null;
  return (
    <Text aria-label={t`Running campaigns`} component="section" size="sm">
      <Trans>
        <strong>Campaigns:</strong>{" "}
      </Trans>
      {all.slice(0, MOST_SHOWN).map((campaign, place) => (
        <Fragment key={campaign.id}>
          {place > 0 && " · "}
          <CampaignLink fw={600} id={campaign.id} name={campaign.name} /> {progressOf(campaign)}
        </Fragment>
      ))}
      {all.length > MOST_SHOWN && (
        <>
          {" · "}
          <TextLink to="/campaigns">{t`${all.length - MOST_SHOWN} more`}</TextLink>
        </>
      )}
    </Text>
  );
}

function progressOf(campaign: ListedCampaign): string {
  const { counts, cluster_name: cluster, state } = campaign;
  const ended = counts.finished + counts.failed + counts.cancelled;
  const runs = t`${ended} of ${ended + counts.waiting + counts.active} runs`;
  const failed = counts.failed > 0 ? t`, ${counts.failed} failed` : "";
  const preparing = activePreparations(campaign) > 0 ? t`, works on scratch disks` : "";
  return `${state === "active" ? t`running` : state} (${runs}${failed}${preparing}, ${cluster})`;
}
