/** Who starts the runs of a cluster: the agents of its nodes, or jobs of a batch system. */

import { Group, NativeSelect, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Cluster } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { useMay } from "@/components/session";
import { changeLauncher } from "./queries";

const WORDS: Readonly<Record<Cluster["launcher"], string>> = {
  direct: "the agents of its nodes",
  slurm: "jobs of Slurm",
  lsf: "jobs of LSF",
};

export default function LauncherChoice({ cluster }: { cluster: Cluster }) {
  const change = useMutation(changeLauncher);
  const mayChange = useMay("admin", cluster.id);
  if (!mayChange)
    return cluster.launcher === "direct" ? null : (
      <Text c="dimmed" size="sm">
        Its runs are {WORDS[cluster.launcher]}.
      </Text>
    );
  return (
    <>
      {change.error && <ErrorNotice error={change.error} />}
      <Group gap="xs">
        <Text size="sm">Its runs are started by</Text>
        <NativeSelect
          aria-label={`Who starts the runs of cluster ${cluster.name}`}
          data={Object.entries(WORDS).map(([value, label]) => ({ value, label }))}
          disabled={change.isPending}
          onChange={({ currentTarget: { value } }) =>
            change.mutate({ clusterId: cluster.id, launcher: value as Cluster["launcher"] })
          }
          size="xs"
          value={cluster.launcher}
        />
        {cluster.launcher !== "direct" && (
          <Text c="dimmed" size="sm">
            A gateway submits them: <code>iotide-agent gateway</code> on a login node.
          </Text>
        )}
      </Group>
    </>
  );
}
