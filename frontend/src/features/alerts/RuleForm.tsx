/** Enters a rule: of which changes of which series alerts are raised. */

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
import type { AlertRuleInput, Channel, Cluster } from "@/api/types";
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
  /** Channels that tell of the cluster. */
  readonly channels: readonly Channel[];
  readonly onDone: () => void;
}

export function RuleForm({ cluster, channels, onDone, ...scope }: RuleFormProps) {
  const create = useMutation(createAlertRule);
  const [percent, setPercent] = useState<number | string>(5);
  const [told, setTold] = useState<readonly string[]>([]);
  const offered = channels.map(({ id, name }) => ({ value: String(id), label: name }));
  // Another cluster has other channels: what was chosen for the one before is not told of this one.
  const chosen = told.filter((id) => offered.some(({ value }) => value === id));
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const rule = ruleOf(form, cluster.name, Number(percent));
    create.mutate({ ...rule, channel_ids: chosen.map(Number) }, { onSuccess: onDone });
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
        <MultiSelect
          data={offered}
          description={offered.length === 0 ? "There is none yet; add one under Notifications." : undefined}
          label="Tell through these channels"
          onChange={setTold}
          placeholder={chosen.length === 0 ? "Nobody is told" : undefined}
          value={[...chosen]}
        />
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

function Scope({
  clusters,
  cluster,
  onCluster,
  targets,
  workloads,
}: Omit<RuleFormProps, "onDone" | "channels">) {
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
