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
  direct: t`agents on its nodes`,
  slurm: t`Slurm jobs`,
  lsf: t`LSF jobs`,
  pbs: t`PBS jobs`,
  flux: t`Flux jobs`,
};

const OF_A_BATCH_SYSTEM = t`Runs start only while a gateway submits jobs. The nodes need no permanent agent. Stop the agent services on the nodes.`;
const QUESTIONS: Readonly<Record<Launcher, string>> = {
  direct: t`Runs start only on nodes where the agent runs as a service. Gateways are no longer needed.`,
  slurm: OF_A_BATCH_SYSTEM,
  lsf: OF_A_BATCH_SYSTEM,
  pbs: OF_A_BATCH_SYSTEM,
  flux: OF_A_BATCH_SYSTEM,
};

export default function LauncherChoice({ cluster }: { cluster: Cluster }) {
  const change = useMutation(changeLauncher);
  const [wanted, setWanted] = useState<Launcher | null>(null);
  const mayChange = useMay("admin", cluster.id);
  if (!mayChange)
    return cluster.launcher === "direct" ? null : <Hint>{t`Run launcher: ${WORDS[cluster.launcher]}.`}</Hint>;
  return (
    <>
      {change.error && <ErrorNotice error={change.error} />}
      <Group gap="xs">
        <Text size="sm">{t`Run launcher`}</Text>
        <NativeSelect
          aria-label={t`Run launcher of cluster ${cluster.name}`}
          data={Object.entries(WORDS).map(([value, label]) => ({ value, label }))}
          disabled={change.isPending}
          onChange={({ currentTarget: { value } }) => setWanted(value as Launcher)}
          size="xs"
          value={cluster.launcher}
        />
        {cluster.launcher !== "direct" && (
          <Hint>
            <Trans>
              Run <code>iotide-agent gateway</code> on a login node to submit the jobs.
            </Trans>
          </Hint>
        )}
      </Group>
      {wanted && (
        <Suspense>
          <ConfirmModal
            body={QUESTIONS[wanted]}
            isSafe
            no={t`Cancel`}
            onClose={() => setWanted(null)}
            onConfirm={() => change.mutate({ clusterId: cluster.id, launcher: wanted })}
            title={t`Change the run launcher of ${cluster.name} to ${WORDS[wanted]}?`}
            yes={t`Change launcher`}
          />
        </Suspense>
      )}
    </>
  );
}
