/** Enters a rule: of which changes of which series alerts are raised. */

import { Button, Group, NativeSelect, NumberInput, Stack, Switch, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { AlertRuleInput, Cluster } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { createAlertRule } from "./queries";

const SMALLEST_PERCENT = 3;
const LARGEST_PERCENT = 1000;
const ANY = { value: "", label: "Any" };

interface RuleFormProps {
  readonly clusters: readonly Cluster[];
  readonly cluster: Cluster;
  readonly onCluster: (clusterId: number) => void;
  /** Names in the cluster to choose from. */
  readonly targets: readonly string[];
  readonly workloads: readonly string[];
  readonly onDone: () => void;
}

export function RuleForm({ cluster, onDone, ...scope }: RuleFormProps) {
  const create = useMutation(createAlertRule);
  const [percent, setPercent] = useState<number | string>(5);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    create.mutate(ruleOf(form, cluster.name, Number(percent)), { onSuccess: onDone });
  }
  return (
    <form aria-label="New alert rule" onSubmit={submit}>
      <Stack gap="sm">
        <Group align="flex-end">
          <TextInput label="Rule name" maxLength={100} name="name" placeholder="nightly-slower" required />
          <NumberInput
            decimalScale={1}
            label="Smallest shift"
            max={LARGEST_PERCENT}
            min={SMALLEST_PERCENT}
            onChange={setPercent}
            required
            suffix=" %"
            value={percent}
          />
          <NativeSelect
            data={[
              { value: "worse", label: "Worse alone" },
              { value: "both", label: "Worse and better" },
            ]}
            label="Directions"
            name="directions"
          />
        </Group>
        <Scope cluster={cluster} key={cluster.id} {...scope} />
        <Switch
          defaultChecked
          label="Tell of scheduled series that stopped, too"
          name="missing_runs"
          value="yes"
        />
        {create.error && <ErrorNotice error={create.error} />}
        <Group>
          <Button loading={create.isPending} type="submit">
            Add rule
          </Button>
          <Button onClick={onDone} variant="default">
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ruleOf(form: FormData, cluster: string, percent: number): AlertRuleInput {
  const text = (name: string) => String(form.get(name) ?? "").trim() || null;
  return {
    name: text("name") ?? "",
    cluster,
    target: text("target"),
    workload: text("workload"),
    metric: text("metric"),
    least_shift_ratio: percent / 100,
    directions: text("directions") === "both" ? "both" : "worse",
    missing_runs: form.has("missing_runs"),
    control_workload: text("control_workload"),
  };
}

function Scope({ clusters, cluster, onCluster, targets, workloads }: Omit<RuleFormProps, "onDone">) {
  return (
    <Group align="flex-end">
      <NativeSelect
        data={clusters.map(({ id, name }) => ({ value: String(id), label: name }))}
        label="Cluster"
        onChange={(event) => onCluster(Number(event.currentTarget.value))}
        value={String(cluster.id)}
      />
      <NativeSelect data={[ANY, ...targets]} label="Target" name="target" />
      <NativeSelect data={[ANY, ...workloads]} label="Workload" name="workload" />
      <TextInput label="Metric" name="metric" placeholder="Any" />
      <NativeSelect
        data={[{ value: "", label: "None" }, ...workloads]}
        label="Control workload"
        name="control_workload"
      />
    </Group>
  );
}
