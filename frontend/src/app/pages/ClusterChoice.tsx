/** Chooses among the clusters, where there are several. */

import { NativeSelect } from "@mantine/core";
import type { Cluster } from "@/api/types";

interface ClusterChoiceProps {
  readonly clusters: readonly Cluster[];
  readonly clusterId: number;
  readonly onChoose: (clusterId: number) => void;
}

export function ClusterChoice({ clusters, clusterId, onChoose }: ClusterChoiceProps) {
  return (
    <NativeSelect
      aria-label="Cluster"
      data={clusters.map(({ id, name }) => ({ value: String(id), label: name }))}
      onChange={(event) => onChoose(Number(event.currentTarget.value))}
      value={String(clusterId)}
    />
  );
}
