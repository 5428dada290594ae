/** The rules by which alerts are raised: what each covers, what it leaves alone, and how one is added, changed or removed. */

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
  /** The form of a rule; undefined: of a new one. */
  readonly renderForm: (rule: AlertRule | undefined, onDone: () => void) => ReactNode;
  readonly mayAdd: boolean;
  /** Those that the reader may see. */
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
          >{t`Add a rule`}</AddButton>
        )
      }
      description={t`Of which changes alerts are raised. Of several rules that cover a series the narrowest answers for it.`}
      title={t`Alert rules`}
    >
      <Stack>
        {(open === "new" || edited) && <div key={open}>{renderForm(edited, close)}</div>}
        <Loaded empty={t`No rule yet: changes are shown on their page, and nobody is told.`} query={rules}>
          {(rows) => (
            <ScrollTable
              head={[
                t`Rule`,
                t`Covers`,
                t`From`,
                t`Directions`,
                t`Stopped series`,
                t`Tells`,
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
  const told = rule.channel_ids.map((id) => channels.find((one) => one.id === id)?.name ?? t`channel ${id}`);
  return (
    <Row>
      <td className="iotide-name iotide-strong">{rule.name}</td>
      <td className="iotide-wrap">
        {rule.cluster_name}: {scope || t`every series`}
        {control && <Detail>{t`control workload ${control}`}</Detail>}
      </td>
      <Quantity unit="ratio" value={rule.least_shift_ratio} />
      {rule.directions === "both" ? t`worse and better` : t`worse alone`}
      {rule.missing_runs ? t`told` : t`not told`}
      <td className="iotide-wrap">
        {told.join(", ") || t`nobody`}
        {rule.muted_until !== null && isMute(rule, new Date()) && (
          <Detail>{t`mute until ${formatExactTime(rule.muted_until)}`}</Detail>
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

/** Alerts are raised and shown all the same, so nothing is lost and nothing is asked. */
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
        <Menu.Label>{t`Nobody is told; alerts are shown`}</Menu.Label>
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
      ? t`It has no open alert.`
      : t`${rule.open_alerts === 1 ? t`1 open alert is` : t`${rule.open_alerts} open alerts are`} closed with it.`;
  return (
    <ConfirmMutation
      aria-label={t`Delete ${rule.name}`}
      title={t`Delete ${rule.name}?`}
      body={t`${closed} Changes are found and shown all the same.`}
      yes={t`Delete the rule`}
      size="compact-xs"
      mutation={removeAlertRule}
      variables={rule.id}
    >{t`Delete`}</ConfirmMutation>
  );
}
