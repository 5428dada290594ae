/** One alert: what is known, its trend around the change, what can be done, and all that was done about it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { AlertAction, AlertDetail } from "@/api/types";
import { TextLink } from "@/components/links";
import { Page, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { When } from "@/components/values";
import { AlertFacts } from "./AlertFacts";
import { AlertMoves } from "./AlertMoves";
import { AlertTable } from "./AlertTable";
import { MuteForm } from "./MuteForm";
import { deedWords } from "./words";

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
          <TextLink to="/alerts" underline="always">
            Alerts
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
        description={t`One dot a point: the median of its runs. The dashed line is where it changed.`}
        title={t`Trend around it`}
      >
        {trend}
      </Section>
      <AlertMoves alert={alert} key={alert.state} renderAdd={renderAdd} />
      {group.length > 0 && (
        <Section
          description={t`Changes of this cluster within two runs; one message tells of all.`}
          title={t`Changed together with it`}
        >
          <AlertTable alerts={group} label={t`Alerts of the group`} />
        </Section>
      )}
      <History actions={actions} />
      <MuteForm alert={alert} />
    </Page>
  );
}

function History({ actions }: { actions: readonly AlertAction[] }) {
  return (
    <Section title={t`What was done about it`}>
      <ScrollTable head={[t`When`, t`Who`, t`What`, t`State`, t`Comment`]} label={t`History`}>
        {actions.toReversed().map(({ id, at, who, action, comment, before, after }) => (
          <Row key={id}>
            <When at={at} />
            {who ?? t`by itself`}
            {deedWords(action)}
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
