/** The settings' section of alert rules, with the clusters, targets, workloads and channels that a rule may name. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hasRole, useMaySomewhere, usePrincipal } from "@/components/session";
import { RuleForm } from "@/features/alerts/RuleForm";
import { RulesSection } from "@/features/alerts/RulesSection";
import { clustersQuery } from "@/features/clusters/queries";
import { channelsQuery } from "@/features/notifications/queries";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";

export function AlertRules() {
  const principal = usePrincipal();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const own = clusters.filter(({ id }) => hasRole(principal, "operator", id));
  const [clusterId, setClusterId] = useState<number>();
  const cluster = own.find(({ id }) => id === clusterId) ?? own[0];
  const wanted = { enabled: cluster !== undefined };
  const { data: targets = [] } = useQuery({ ...targetsQuery(cluster?.id ?? 0), ...wanted });
  const { data: workloads = [] } = useQuery({ ...workloadsQuery(cluster?.id), ...wanted });
  const { data: channels = [] } = useQuery({ ...channelsQuery, enabled: useMaySomewhere("operator") });
  return (
    <RulesSection
      channels={channels}
      mayAdd={cluster !== undefined}
      renderForm={(onDone) =>
        cluster && (
          <RuleForm
            channels={channels.filter((one) => one.cluster_id === null || one.cluster_id === cluster.id)}
            cluster={cluster}
            clusters={own}
            onCluster={setClusterId}
            onDone={onDone}
            targets={targets.map(({ name }) => name)}
            workloads={workloads.map(({ name }) => name)}
          />
        )
      }
    />
  );
}
