/** /settings */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { AlertRule, Channel, Cluster } from "@/api/types";
import { useClusters } from "@/components/Origin";
import { hasRole, useMaySomewhere, usePrincipal } from "@/components/session";
import { SettingsPage } from "@/features/accounts/SettingsPage";
import { RuleForm } from "@/features/alerts/RuleForm";
import { RulesSection } from "@/features/alerts/RulesSection";
import { channelsQuery } from "@/features/notifications/queries";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";

const Notifications = lazy(() => import("./Notifications"));

export default function SettingsRoute() {
  const isOperator = useMaySomewhere("operator");
  return (
    <SettingsPage>
      <AlertRules />
      <Suspense>{isOperator && <Notifications />}</Suspense>
    </SettingsPage>
  );
}

function AlertRules() {
  const principal = usePrincipal();
  const clusters = useClusters();
  const own = clusters.filter(
    ({ id, origin }) => origin !== "published" && hasRole(principal, "operator", id),
  );
  const { data: channels = [] } = useQuery({ ...channelsQuery, enabled: useMaySomewhere("operator") });
  return (
    <RulesSection
      channels={channels}
      mayAdd={own.length > 0}
      renderForm={(rule, onDone) => <Form channels={channels} clusters={own} onDone={onDone} rule={rule} />}
    />
  );
}

interface FormProps {
  /** Undefined: a new one. */
  readonly rule: AlertRule | undefined;
  /** Clusters in which the user may create rules. */
  readonly clusters: readonly Cluster[];
  readonly channels: readonly Channel[];
  readonly onDone: () => void;
}

function Form({ rule, clusters, channels, onDone }: FormProps) {
  const [clusterId, setClusterId] = useState(rule?.cluster_id);
  const cluster = clusters.find(({ id }) => id === clusterId) ?? clusters[0];
  const wanted = { enabled: cluster !== undefined };
  const { data: targets = [] } = useQuery({ ...targetsQuery(cluster?.id ?? 0), ...wanted });
  const { data: workloads = [] } = useQuery({ ...workloadsQuery(cluster?.id), ...wanted });
  if (!cluster) return null;
  return (
    <RuleForm
      channels={channels.filter((one) => one.cluster_id === null || one.cluster_id === cluster.id)}
      cluster={cluster}
      clusters={clusters}
      onCluster={setClusterId}
      onDone={onDone}
      rule={rule}
      targets={targets.map(({ name }) => name)}
      workloads={workloads.map(({ name }) => name)}
    />
  );
}
