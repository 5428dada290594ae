import { t } from "@lingui/core/macro";
import {
  Button,
  Group,
  MultiSelect,
  NativeSelect,
  NumberInput,
  Stack,
  Switch,
  TextInput,
} from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { AlertRule, AlertRuleInput, Channel, Cluster } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { changeAlertRule, createAlertRule } from "./queries";
import { ruleOf } from "./rule";

const SMALLEST_PERCENT = 3;
const LARGEST_PERCENT = 1000;
const USUAL_PERCENT = 5;
const ANY = { value: "", label: t`Any` };

interface RuleFormProps {
  /** Undefined: a new rule. */
  readonly rule: AlertRule | undefined;
  readonly clusters: readonly Cluster[];
  readonly cluster: Cluster;
  readonly onCluster: (clusterId: number) => void;
  readonly targets: readonly string[];
  readonly workloads: readonly string[];
  /** Channels that serve the cluster. */
  readonly channels: readonly Channel[];
  readonly onDone: () => void;
}

export function RuleForm({ rule, cluster, channels, onDone, ...scope }: RuleFormProps) {
  const save = useSave(rule);
  const [percent, setPercent] = useState<number | string>(percentOf(rule));
  const [wantedIds, setWantedIds] = useState<readonly string[]>((rule?.channel_ids ?? []).map(String));
  const offered = channels.map(({ id, name }) => ({ value: String(id), label: name }));
  // Another cluster has other channels, so the selection is cleared.
  const chosen = wantedIds.filter((id) => offered.some(({ value }) => value === id));
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const rest = { channel_ids: chosen.map(Number), muted_until: rule?.muted_until ?? null };
    const form = new FormData(event.currentTarget);
    save.mutate(ruleOf(form, { ...rest, cluster: cluster.name, percent: Number(percent) }), onDone);
  }
  return (
    <form aria-label={rule ? t`Change ${rule.name}` : t`New alert rule`} onSubmit={submit}>
      <Stack gap="sm">
        <NameAndSize onPercent={setPercent} percent={percent} rule={rule} />
        <Scope cluster={cluster} key={cluster.id} rule={rule} {...scope} />
        <MultiSelect
          data={offered}
          description={offered.length === 0 ? t`No channels yet. Add one under Notifications.` : undefined}
          label={t`Notify via`}
          onChange={setWantedIds}
          placeholder={chosen.length === 0 ? t`No notifications` : undefined}
          value={[...chosen]}
        />
        <Switch
          defaultChecked={rule?.missing_runs ?? true}
          label={t`Alert on stale series`}
          name="missing_runs"
          value="yes"
        />
        {save.error && <ErrorNotice error={save.error} />}
        <Group>
          <Button loading={save.isPending} type="submit">
            {rule ? t`Save rule` : t`Add rule`}
          </Button>
          <Button onClick={onDone} variant="default">{t`Cancel`}</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface NameAndSizeProps extends Pick<RuleFormProps, "rule"> {
  readonly percent: number | string;
  readonly onPercent: (percent: number | string) => void;
}

function NameAndSize({ rule, percent, onPercent }: NameAndSizeProps) {
  return (
    <Group align="flex-end">
      <TextInput
        defaultValue={rule?.name}
        label={t`Rule name`}
        maxLength={100}
        name="name"
        placeholder={t`nightly-slower`}
        required
      />
      <NumberInput
        decimalScale={1}
        label={t`Minimum shift`}
        max={LARGEST_PERCENT}
        min={SMALLEST_PERCENT}
        onChange={onPercent}
        required
        suffix=" %"
        value={percent}
      />
      <NativeSelect
        data={[
          { value: "worse", label: t`Regressions only` },
          { value: "both", label: t`Regressions and improvements` },
        ]}
        defaultValue={rule?.directions}
        label={t`Directions`}
        name="directions"
      />
    </Group>
  );
}

function percentOf(rule: AlertRule | undefined): number {
  return rule ? Math.round(rule.least_shift_ratio * 1000) / 10 : USUAL_PERCENT;
}

/** Creates a rule or replaces all of its fields. */
function useSave(rule: AlertRule | undefined) {
  const create = useMutation(createAlertRule);
  const change = useMutation(changeAlertRule);
  return {
    error: create.error ?? change.error,
    isPending: create.isPending || change.isPending,
    mutate(body: AlertRuleInput, onSuccess: () => void): void {
      if (rule) change.mutate({ ruleId: rule.id, body }, { onSuccess });
      else create.mutate(body, { onSuccess });
    },
  };
}

type ScopeProps = Omit<RuleFormProps, "onDone" | "channels">;

function Scope({ rule, clusters, cluster, onCluster, targets, workloads }: ScopeProps) {
  return (
    <Group align="flex-end">
      <NativeSelect
        data={clusters.map(({ id, name }) => ({ value: String(id), label: name }))}
        label={t`Cluster`}
        onChange={(event) => onCluster(Number(event.currentTarget.value))}
        value={String(cluster.id)}
      />
      <Named any={ANY} label={t`Target`} name="target" names={targets} value={rule?.target?.name} />
      <Named any={ANY} label={t`Workload`} name="workload" names={workloads} value={rule?.workload} />
      <TextInput defaultValue={rule?.metric ?? ""} label={t`Metric`} name="metric" placeholder={t`Any`} />
      <Named
        any={{ value: "", label: t`None` }}
        label={t`Control workload`}
        name="control_workload"
        names={workloads}
        value={rule?.control_workload}
      />
    </Group>
  );
}

interface NamedProps {
  readonly label: string;
  readonly name: string;
  readonly any: { readonly value: string; readonly label: string };
  readonly names: readonly string[];
  /** Keeps the value of the rule selectable even if the cluster no longer has it. */
  readonly value: string | null | undefined;
}

function Named({ label, name, any, names, value }: NamedProps) {
  const offered = value && !names.includes(value) ? [value, ...names] : names;
  // Options may load after the form is shown. A select without its option would lose the value of the rule.
  return (
    <NativeSelect
      data={[any, ...offered]}
      defaultValue={value ?? ""}
      key={offered.length}
      label={label}
      name={name}
    />
  );
}
