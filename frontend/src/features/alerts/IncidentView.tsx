import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Incident, IncidentDetail, IncidentStep } from "@/api/types";
import { DirectionBadge } from "@/components/badges";
import { ButtonLink, TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Page, Section } from "@/components/Page";
import { Reasons } from "@/components/Reasons";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { LoggedIn } from "@/components/session";
import { Quantity, When } from "@/components/values";
import { CommentForm } from "./CommentForm";
import { IncidentChart } from "./IncidentChart";
import { IncidentMoves } from "./IncidentMoves";
import { IncidentState } from "./IncidentTable";
import { stepWords } from "./words";

interface IncidentViewProps {
  readonly detail: IncidentDetail;
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
}

export function IncidentView({ detail, renderAdd }: IncidentViewProps) {
  const { incident, changes, stale, actions } = detail;
  return (
    <Page
      title={incident.words}
      trail={
        <Trans>
          <TextLink to="/incidents" underline="always">
            Incidents
          </TextLink>{" "}
          · {incident.cluster_name} · incident {incident.id}
        </Trans>
      }
    >
      <Worst incident={incident} renderAdd={renderAdd} />
      {changes.length > 0 && <Members detail={detail} />}
      {stale.length > 0 && (
        <Section title={t`Stale series`}>
          <ScrollTable head={[t`Series`, t`Details`, t`Alert`]} label={t`Stale series`}>
            {stale.map(({ id, series, cluster_id: clusterId, words }) => (
              <Row key={id}>
                <SeriesName clusterId={clusterId} series={series} />
                <td className="iotide-wrap">{words}</td>
                <AlertLink id={id} state={null} />
              </Row>
            ))}
          </ScrollTable>
        </Section>
      )}
      <History actions={actions} incident={incident} />
    </Page>
  );
}

function Worst({ incident, renderAdd }: Pick<IncidentViewProps, "renderAdd"> & { incident: Incident }) {
  const { series, change, event, is_event_set: isSet, owner } = incident;
  return (
    <Section
      actions={<IncidentState incident={incident} />}
      title={series ? t`${series.workload}: ${series.title}` : t`Incident`}
    >
      <Group justify="space-between" mb="sm">
        <Text size="sm">
          {t`Owner`}: {owner ?? <LoggedIn>{t`unassigned`}</LoggedIn>} · {t`Cause`}:{" "}
          {event ? `${event.text} (${isSet ? t`set by a user` : t`nearest event`})` : t`unknown`}
        </Text>
        <IncidentMoves hasForm incident={incident} renderAdd={renderAdd} />
      </Group>
      {series && <IncidentChart incident={incident} seriesId={series.id} />}
      {series && (
        <Group justify="space-between">
          <Hint>{t`Worst series. The dashed lines are the levels before and after its change.`}</Hint>
          <ButtonLink
            params={{ clusterId: incident.cluster_id }}
            search={{
              workload: series.workload,
              metric: series.metric,
              series: [series.id],
              cell: change?.cell_id,
            }}
            size="xs"
            to="/clusters/$clusterId/trend"
            variant="default"
          >{t`Open trend`}</ButtonLink>
        </Group>
      )}
    </Section>
  );
}

function Members({ detail: { incident, changes, changes_left_out: leftOut } }: { detail: IncidentDetail }) {
  return (
    <Section title={t`Affected series`}>
      <ScrollTable
        head={[t`Series`, t`Change`, t`Since`, t`Before`, t`After`, t`Alert`]}
        label={t`Affected series`}
      >
        {changes.map(({ series, change, alert_id: alertId, alert_state: state }) => (
          <Row key={change.id}>
            <td className="iotide-wrap">
              <SeriesName cellId={change.cell_id} clusterId={incident.cluster_id} series={series} />
            </td>
            <td className="iotide-wrap">
              <DirectionBadge change={change} /> {change.words}
              <Reasons reasons={change.reasons} />
            </td>
            <When at={change.at} />
            <Quantity unit={series.unit} value={change.median_before} />
            <Quantity unit={series.unit} value={change.median_after} />
            <td>{alertId !== null && <AlertLink id={alertId} state={state} />}</td>
          </Row>
        ))}
      </ScrollTable>
      {leftOut > 0 && <Hint>{t`${leftOut} smaller changes are not listed.`}</Hint>}
    </Section>
  );
}

function AlertLink({ id, state }: { id: number; state: string | null }) {
  return (
    <TextLink params={{ alertId: id }} to="/alerts/$alertId">
      {state === null ? t`Alert ${id}` : state.replaceAll("_", " ")}
    </TextLink>
  );
}

function History({ actions, incident }: { actions: readonly IncidentStep[]; incident: Incident }) {
  return (
    <Section title={t`History`}>
      <CommentForm incident={incident} />
      <ScrollTable head={[t`Time`, t`User`, t`Action`, t`Comment`]} label={t`History`}>
        {actions.toReversed().map(({ at, who, action, comment, alerts }) => (
          <Row key={`${at} ${who} ${action} ${comment}`}>
            <When at={at} />
            {who ?? t`automatic`}
            <td>
              {stepWords(action)}
              {alerts > 1 && t` (${alerts} alerts)`}
            </td>
            <td className="iotide-wrap">{comment}</td>
          </Row>
        ))}
      </ScrollTable>
    </Section>
  );
}
