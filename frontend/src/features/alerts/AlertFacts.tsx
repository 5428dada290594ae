/** What is known of an alert, in a list. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { DataList, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Alert } from "@/api/types";
import { Definition } from "@/components/Definition";
import { DirectionBadge } from "@/components/DirectionBadge";
import { CampaignLink } from "@/components/links";
import { SeriesName } from "@/components/SeriesName";
import { LoggedIn } from "@/components/session";
import { Quantity, When } from "@/components/values";
import { formatP } from "@/lib/units";

export function AlertFacts({ alert }: { alert: Alert }) {
  const { series, change, event, owner } = alert;
  return (
    <DataList>
      <Definition label={t`Series`}>
        <SeriesName
          cellId={change?.cell_id}
          clusterId={alert.cluster_id}
          clusterName={alert.cluster_name}
          series={series}
        />
      </Definition>
      <Definition label={t`What`}>
        {change && <DirectionBadge change={change} />} {alert.words}
      </Definition>
      {change && (
        <Definition label={t`Level`}>
          <Trans>
            <Quantity unit={series.unit} value={change.median_before} /> before,{" "}
            <Quantity unit={series.unit} value={change.median_after} /> after; p {formatP(change.p_value)}
          </Trans>
        </Definition>
      )}
      <Definition label={t`Since`}>
        <When at={alert.at} />
        {change && (
          <Trans>
            , after <When at={change.previous_at} />
          </Trans>
        )}
      </Definition>
      <Definition label={t`Owner`}>
        {owner ?? <LoggedIn>{t`nobody`}</LoggedIn>}
        {alert.due_at && <When at={alert.due_at} prefix=", due " />}
      </Definition>
      <Known label={t`Event`}>{event && t`${event.text} (source: ${event.told_by ?? "runs"})`}</Known>
      <Known label={t`Rule`}>{alert.rule?.name}</Known>
      <Known label={t`Looked at again by`}>
        {alert.confirmation_id !== null && (
          <CampaignLink id={alert.confirmation_id} name={t`campaign ${alert.confirmation_id}`} />
        )}
      </Known>
      <Known label={t`New baseline`}>
        {alert.baseline_at && <When at={alert.baseline_at} prefix="accepted " />}
      </Known>
      <Known label={t`Closed`}>{alert.closed_because?.replaceAll("_", " ")}</Known>
      <Known label={t`Group`}>
        {alert.group?.is_environment &&
          t`A control workload changed along: look at the environment before the storage.`}
      </Known>
    </DataList>
  );
}

/** Nothing where it is not known. */
function Known({ label, children }: { label: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <Definition label={label}>
      <Text component="div" inherit style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </Definition>
  );
}
