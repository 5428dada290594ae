/** The rules by which alerts are raised: what each covers, what it leaves alone, and how one is added or removed. */

import { Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AlertRule, Channel } from "@/api/types";
import { AddButton } from "@/components/AddButton";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { formatValue } from "@/lib/units";
import { alertRulesQuery, removeAlertRule } from "./queries";

interface RulesSectionProps {
  /** The form of a new rule. */
  readonly renderForm: (onDone: () => void) => ReactNode;
  readonly mayAdd: boolean;
  /** Those that the reader may see. */
  readonly channels: readonly Channel[];
}

export function RulesSection({ renderForm, mayAdd, channels }: RulesSectionProps) {
  const rules = useQuery(alertRulesQuery);
  const [isAdding, setIsAdding] = useState(false);
  return (
    <Section
      actions={
        mayAdd && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>
            Add a rule
          </AddButton>
        )
      }
      description="Of which changes alerts are raised. Of several rules that cover a series the narrowest answers for it."
      title="Alert rules"
    >
      <Stack>
        {isAdding && renderForm(() => setIsAdding(false))}
        <Loaded
          empty={<Text c="dimmed">No rule yet: changes are shown on their page, and nobody is told.</Text>}
          isEmpty={(rows) => rows.length === 0}
          query={rules}
        >
          {(rows) => (
            <ScrollTable
              head={["Rule", "Covers", "From", "Directions", "Stopped series", "Tells", "Open alerts", ""]}
              label="Alert rules"
            >
              {rows.map((rule) => (
                <RuleRow channels={channels} key={rule.id} rule={rule} />
              ))}
            </ScrollTable>
          )}
        </Loaded>
      </Stack>
    </Section>
  );
}

function RuleRow({ rule, channels }: { rule: AlertRule; channels: readonly Channel[] }) {
  const { target, workload, metric, control_workload: control } = rule;
  const scope = [workload, metric, target && `on ${target.name}`].filter(Boolean).join(", ");
  const told = rule.channel_ids.map((id) => channels.find((one) => one.id === id)?.name ?? `channel ${id}`);
  return (
    <tr>
      <td className="iotide-name iotide-strong">{rule.name}</td>
      <td className="iotide-wrap">
        {rule.cluster_name}: {scope || "every series"}
        {control && (
          <Text c="dimmed" size="xs">
            control workload {control}
          </Text>
        )}
      </td>
      <td>{formatValue(rule.least_shift_ratio, "ratio")}</td>
      <td>{rule.directions === "both" ? "worse and better" : "worse alone"}</td>
      <td>{rule.missing_runs ? "told" : "not told"}</td>
      <td className="iotide-wrap">{told.join(", ") || "nobody"}</td>
      <td>{rule.open_alerts}</td>
      <td>
        <Group justify="flex-end">
          <RemoveButton rule={rule} />
        </Group>
      </td>
    </tr>
  );
}

function RemoveButton({ rule }: { rule: AlertRule }) {
  const remove = useMutation(removeAlertRule);
  if (!useMay("operator", rule.cluster_id)) return null;
  const closed =
    rule.open_alerts === 0
      ? "It has no open alert."
      : `${rule.open_alerts === 1 ? "1 open alert is" : `${rule.open_alerts} open alerts are`} closed with it.`;
  return (
    <ConfirmButton
      aria-label={`Delete ${rule.name}`}
      loading={remove.isPending}
      onConfirm={() => remove.mutate(rule.id)}
      question={{
        title: `Delete ${rule.name}?`,
        body: `${closed} Changes are found and shown all the same.`,
        yes: "Delete the rule",
        no: "Keep it",
      }}
      size="compact-xs"
    >
      Delete
    </ConfirmButton>
  );
}
