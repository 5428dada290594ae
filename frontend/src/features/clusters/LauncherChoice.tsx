/** Who starts the runs of a cluster: the agents of its nodes, or jobs of a batch system. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, NativeSelect, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Cluster } from "@/api/types";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { changeLauncher } from "./queries";

type Launcher = Cluster["launcher"];

const ConfirmModal = lazy(() => import("@/components/ConfirmModal"));
const WORDS: Readonly<Record<Launcher, string>> = {
  direct: t`the agents of its nodes`,
  slurm: t`jobs of Slurm`,
  lsf: t`jobs of LSF`,
};

const OF_A_BATCH_SYSTEM = t`From now on a run starts only while a gateway submits jobs, and its nodes need no agent of their own between them. Stop the agents that run there as services.`;
const QUESTIONS: Readonly<Record<Launcher, string>> = {
  direct: t`From now on a run starts only on nodes whose agent runs as a service. Gateways have nothing left to do.`,
  slurm: OF_A_BATCH_SYSTEM,
  lsf: OF_A_BATCH_SYSTEM,
};

export default function LauncherChoice({ cluster }: { cluster: Cluster }) {
  const change = useMutation(changeLauncher);
  const [wanted, setWanted] = useState<Launcher | null>(null);
  const mayChange = useMay("admin", cluster.id);
  if (!mayChange)
    return cluster.launcher === "direct" ? null : <Hint>{t`Its runs are ${WORDS[cluster.launcher]}.`}</Hint>;
  return (
    <>
      {change.error && <ErrorNotice error={change.error} />}
      <Group gap="xs">
        <Text size="sm">{t`Its runs are started by`}</Text>
        <NativeSelect
          aria-label={t`Who starts the runs of cluster ${cluster.name}`}
          data={Object.entries(WORDS).map(([value, label]) => ({ value, label }))}
          disabled={change.isPending}
          onChange={({ currentTarget: { value } }) => setWanted(value as Launcher)}
          size="xs"
          value={cluster.launcher}
        />
        {cluster.launcher !== "direct" && (
          <Hint>
            <Trans>
              A gateway submits them: <code>iotide-agent gateway</code> on a login node.
            </Trans>
          </Hint>
        )}
      </Group>
      {wanted && (
        <Suspense>
          <ConfirmModal
            body={QUESTIONS[wanted]}
            no={t`Leave it`}
            onClose={() => setWanted(null)}
            onConfirm={() => change.mutate({ clusterId: cluster.id, launcher: wanted })}
            title={t`Start the runs of ${cluster.name} as ${WORDS[wanted]}?`}
            yes={t`Change it`}
          />
        </Suspense>
      )}
    </>
  );
}
