import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, DataList, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Alert, AlertAction, AlertDetail } from "@/api/types";
import { DirectionBadge, StateBadge } from "@/components/badges";
import { Definition } from "@/components/Definition";
import { CampaignLink, TextLink } from "@/components/links";
import { ErrorNotice, Page, Section } from "@/components/Page";
import { Reasons } from "@/components/Reasons";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { LoggedIn, useMay } from "@/components/session";
import { submitted } from "@/components/submitted";
import { Quantity, When } from "@/components/values";
import { formatExactTime, fromLocalTime, shownTimeZone } from "@/lib/time";
import { formatP } from "@/lib/units";
import { AlertMoves } from "./AlertMoves";
import { muteAlert } from "./queries";
import { actionWords } from "./words";

interface AlertViewProps {
  readonly detail: AlertDetail;
  readonly trend: ReactNode;
  readonly renderAdd: (onAdded: (eventId: number) => void) => ReactNode;
}

export function AlertView({ detail: { alert, actions, group }, trend, renderAdd }: AlertViewProps) {
  return (
    <Page
      title={t`Alert ${alert.id}`}
      trail={
        <Trans>
          <TextLink to="/incidents" underline="always">
            Incidents
          </TextLink>{" "}
          · {alert.cluster_name} · raised <When at={alert.raised_at} />
        </Trans>
      }
    >
      <Section
        actions={<StateBadge state={alert.state} />}
        title={`${alert.series.workload}: ${alert.series.title}`}
      >
        <AlertFacts alert={alert} />
      </Section>
      <Section
        description={t`Each point is the median of its runs. The dashed line marks the change.`}
        title={t`Trend around the change`}
      >
        {trend}
      </Section>
      <AlertMoves alert={alert} key={alert.state} renderAdd={renderAdd} />
      {alert.group && (
        <TextLink params={{ incidentId: alert.group.id }} to="/incidents/$incidentId">
          {group.length > 0 ? t`Incident with ${group.length} more alerts` : t`Incident of this alert`}
        </TextLink>
      )}
      <History actions={actions} />
      <MuteForm alert={alert} />
    </Page>
  );
}

function History({ actions }: { actions: readonly AlertAction[] }) {
  return (
    <Section title={t`History`}>
      <ScrollTable head={[t`Time`, t`User`, t`Action`, t`State`, t`Comment`]} label={t`History`}>
        {actions.toReversed().map(({ id, at, who, action, comment, before, after }) => (
          <Row key={id}>
            <When at={at} />
            {who ?? t`automatic`}
            {actionWords(action)}
            <Moved after={after.state} before={before.state} />
            <td className="iotide-wrap">{comment}</td>
          </Row>
        ))}
      </ScrollTable>
    </Section>
  );
}

function Moved({ before, after }: { before: unknown; after: unknown }) {
  if (typeof after !== "string") return null;
  return (
    <Text component="span" inherit>
      {typeof before === "string" && `${before.replaceAll("_", " ")} → `}
      {after.replaceAll("_", " ")}
    </Text>
  );
}

function MuteForm({ alert }: { alert: Alert }) {
  const mute = useMutation(muteAlert);
  const until = alert.series.muted_until;
  if (!useMay("operator", alert.cluster_id)) return null;
  const submit = submitted((text) => mute.mutate({ alertId: alert.id, until: fromLocalTime(text("until")) }));
  return (
    <Section
      description={t`No notifications are sent for this series until then. Its alerts are still raised and shown.`}
      title={t`Mute`}
    >
      <form aria-label={t`Mute series`} onSubmit={submit}>
        <Stack gap="sm">
          {mute.error && <ErrorNotice error={mute.error} />}
          {until && <Text size="sm">{t`Muted until ${formatExactTime(until)}.`}</Text>}
          <Group align="flex-end">
            <TextInput label={t`Until (${shownTimeZone()})`} name="until" required type="datetime-local" />
            <Button loading={mute.isPending} type="submit" variant="default">{t`Mute series`}</Button>
            {until && (
              <Button
                onClick={() => mute.mutate({ alertId: alert.id, until: null })}
                variant="subtle"
              >{t`Unmute`}</Button>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function AlertFacts({ alert }: { alert: Alert }) {
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
      <Definition label={t`Details`}>
        {change && <DirectionBadge change={change} />} {alert.words}
        {change && <Reasons reasons={change.reasons} />}
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
        {owner ?? <LoggedIn>{t`unassigned`}</LoggedIn>}
        {alert.due_at && <When at={alert.due_at} prefix=", due " />}
      </Definition>
      <Known label={t`Event`}>{event && t`${event.text} (source: ${event.told_by ?? "runs"})`}</Known>
      <Known label={t`Rule`}>{alert.rule?.name}</Known>
      <Known label={t`Confirmation runs`}>
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
          t`A control workload changed too: check the environment before the storage.`}
      </Known>
    </DataList>
  );
}

/** Renders nothing if the value is missing. */
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
