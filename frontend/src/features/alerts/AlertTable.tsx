/** Table of alerts; groups have a heading row. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Fragment } from "react";
import type { Alert } from "@/api/types";
import { DirectionBadge, StateBadge } from "@/components/badges";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { LoggedIn } from "@/components/session";
import { When } from "@/components/values";

const HEAD = [t`Alert`, t`State`, t`Series`, t`Details`, t`Since`, t`Owner`, t`Rule`];

interface AlertTableProps {
  readonly alerts: readonly Alert[];
  readonly label: string;
  readonly isOfSeveral?: boolean;
}

export function AlertTable({ alerts, label, isOfSeveral = false }: AlertTableProps) {
  return (
    <ScrollTable head={HEAD} label={label}>
      {groupAlerts(alerts).map((together) => (
        <Fragment key={together.key}>
          {together.alerts.length > 1 && <GroupRow together={together} />}
          {together.alerts.map((alert) => (
            <AlertRow alert={alert} isOfSeveral={isOfSeveral} key={alert.id} />
          ))}
        </Fragment>
      ))}
    </ScrollTable>
  );
}

function GroupRow({ together: { alerts, isEnvironment } }: { together: Together }) {
  return (
    <tr className="iotide-band">
      <td className="iotide-strong" colSpan={HEAD.length}>
        <Trans>
          {alerts.length} changed together
          {isEnvironment && t`, including a control workload: check the environment first`}
        </Trans>
      </td>
    </tr>
  );
}

function AlertRow({ alert, isOfSeveral }: { alert: Alert; isOfSeveral: boolean }) {
  const { id, cluster_id: clusterId, cluster_name: clusterName, series, change, owner, rule } = alert;
  return (
    <Row>
      <td>
        <TextLink fw={600} params={{ alertId: id }} to="/alerts/$alertId">
          {t`Alert ${id}`}
        </TextLink>
        <Detail>
          <When at={alert.raised_at} />
        </Detail>
      </td>
      <StateBadge state={alert.state} />
      <td className="iotide-name">
        <SeriesName
          cellId={change?.cell_id}
          clusterId={clusterId}
          clusterName={isOfSeveral ? clusterName : undefined}
          series={series}
        />
      </td>
      <td className="iotide-wrap">
        {change && <DirectionBadge change={change} />} {alert.words}
      </td>
      <When at={alert.at} />
      <td>
        {owner ?? <LoggedIn>{t`unassigned`}</LoggedIn>}
        {alert.due_at && (
          <Detail>
            <When at={alert.due_at} prefix="due " />
          </Detail>
        )}
      </td>
      {rule?.name ?? t`none`}
    </Row>
  );
}

interface Together {
  readonly key: string;
  readonly alerts: readonly Alert[];
  /** A control workload changed as well. */
  readonly isEnvironment: boolean;
}

/** Groups stay at the position of their first alert. */
function groupAlerts(alerts: readonly Alert[]): Together[] {
  const groups = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = alert.group ? t`group ${alert.group.id}` : t`alert ${alert.id}`;
    groups.set(key, [...(groups.get(key) ?? []), alert]);
  }
  return [...groups].map(([key, own]) => ({
    key,
    alerts: own,
    isEnvironment: own.some(({ group }) => group?.is_environment),
  }));
}
