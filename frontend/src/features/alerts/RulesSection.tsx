import { t } from "@lingui/core/macro";
import { Button, Group, Menu, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AlertRule, Channel } from "@/api/types";
import { AddButton, ConfirmMutation } from "@/components/buttons";
import { Detail, RowButton } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { Quantity } from "@/components/values";
import { formatExactTime } from "@/lib/time";
import { alertRulesQuery, changeAlertRule, removeAlertRule } from "./queries";
import { inputOf, isMute, MUTES, muteEnd } from "./rule";

interface RulesSectionProps {
  /** Undefined: a new rule. */
  readonly renderForm: (rule: AlertRule | undefined, onDone: () => void) => ReactNode;
  readonly mayAdd: boolean;
  /** Clusters visible to the user. */
  readonly channels: readonly Channel[];
}

export function RulesSection({ renderForm, mayAdd, channels }: RulesSectionProps) {
  const rules = useQuery(alertRulesQuery);
  const [open, setOpen] = useState<number | "new">();
  const close = () => setOpen(undefined);
  const edited = rules.data?.find(({ id }) => id === open);
  return (
    <Section
      actions={
        mayAdd && (
          <AddButton
            isOpen={open === "new"}
            onToggle={() => setOpen(open === "new" ? undefined : "new")}
          >{t`Add alert rule`}</AddButton>
        )
      }
      description={t`Which changes are sent to channels. Every confirmed change is an incident, with or without a rule. A new cluster starts with a rule for all series that got slower by 5 % or more, without a channel. If several rules match a series, the most specific one applies.`}
      title={t`Alert rules`}
    >
      <Stack>
        {(open === "new" || edited) && <div key={open}>{renderForm(edited, close)}</div>}
        <Loaded
          empty={t`No alert rules yet. Changes appear under Incidents, but no notifications are sent.`}
          query={rules}
        >
          {(rows) => (
            <ScrollTable
              head={[
                t`Rule`,
                t`Scope`,
                t`Minimum shift`,
                t`Directions`,
                t`Stale series`,
                t`Notifies`,
                t`Open alerts`,
                "",
              ]}
              label={t`Alert rules`}
            >
              {rows.map((rule) => (
                <RuleRow channels={channels} key={rule.id} onEdit={() => setOpen(rule.id)} rule={rule} />
              ))}
            </ScrollTable>
          )}
        </Loaded>
      </Stack>
    </Section>
  );
}

interface RuleRowProps {
  readonly rule: AlertRule;
  readonly channels: readonly Channel[];
  readonly onEdit: () => void;
}

function RuleRow({ rule, channels, onEdit }: RuleRowProps) {
  const { target, workload, metric, control_workload: control } = rule;
  const scope = [workload, metric, target && t`on ${target.name}`].filter(Boolean).join(", ");
  const channelNames = rule.channel_ids.map(
    (id) => channels.find((one) => one.id === id)?.name ?? t`channel ${id}`,
  );
  return (
    <Row>
      <td className="iotide-name iotide-strong">{rule.name}</td>
      <td className="iotide-wrap">
        {rule.cluster_name}: {scope || t`all series`}
        {control && <Detail>{t`control workload ${control}`}</Detail>}
      </td>
      <Quantity unit="ratio" value={rule.least_shift_ratio} />
      {rule.directions === "both" ? t`regressions and improvements` : t`regressions only`}
      {rule.missing_runs ? t`alert` : t`no alert`}
      <td className="iotide-wrap">
        {channelNames.join(", ") || t`no channel`}
        {rule.muted_until !== null && isMute(rule, new Date()) && (
          <Detail>{t`muted until ${formatExactTime(rule.muted_until)}`}</Detail>
        )}
      </td>
      {rule.open_alerts}
      <Actions onEdit={onEdit} rule={rule} />
    </Row>
  );
}

function Actions({ rule, onEdit }: Pick<RuleRowProps, "rule" | "onEdit">) {
  if (!useMay("operator", rule.cluster_id)) return null;
  return (
    <Group gap={4} justify="flex-end" miw={190}>
      <RowButton aria-label={t`Edit ${rule.name}`} onClick={onEdit}>{t`Edit`}</RowButton>
      <MuteButton rule={rule} />
      <RemoveButton rule={rule} />
    </Group>
  );
}

/** Muting loses nothing, since alerts are still raised and shown. It needs no confirmation. */
function MuteButton({ rule }: { rule: AlertRule }) {
  const change = useMutation(changeAlertRule);
  const muteUntil = (until: string | null) =>
    change.mutate({ ruleId: rule.id, body: { ...inputOf(rule), muted_until: until } });
  const look = { loading: change.isPending, size: "compact-xs", variant: "default" } as const;
  if (isMute(rule, new Date()))
    return (
      <Button
        {...look}
        aria-label={t`Unmute ${rule.name}`}
        onClick={() => muteUntil(null)}
      >{t`Unmute`}</Button>
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button {...look} aria-label={t`Mute ${rule.name}`}>{t`Mute`}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t`No notifications; alerts are still shown`}</Menu.Label>
        {MUTES.map(({ hours, label }) => (
          <Menu.Item key={hours} onClick={() => muteUntil(muteEnd(hours, new Date()))}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function RemoveButton({ rule }: { rule: AlertRule }) {
  const closed =
    rule.open_alerts === 0
      ? t`The rule has no open alerts.`
      : t`${rule.open_alerts === 1 ? t`1 open alert is` : t`${rule.open_alerts} open alerts are`} closed as well.`;
  return (
    <ConfirmMutation
      aria-label={t`Delete ${rule.name}`}
      title={t`Delete ${rule.name}?`}
      body={t`${closed} Changes are still detected and shown.`}
      yes={t`Delete rule`}
      size="compact-xs"
      mutation={removeAlertRule}
      variables={rule.id}
    >{t`Delete`}</ConfirmMutation>
  );
}
