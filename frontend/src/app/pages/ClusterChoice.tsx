/** Chooses among the clusters, where there are several. */

import { NativeSelect } from "@mantine/core";
import type { Cluster } from "@/api/types";
import { MadeUpBadge } from "@/components/MadeUp";

interface ClusterChoiceProps {
  readonly clusters: readonly Cluster[];
  readonly clusterId: number;
  readonly onChoose: (clusterId: number) => void;
}

export function ClusterChoice({ clusters, clusterId, onChoose }: ClusterChoiceProps) {
  return (
    <>
      <MadeUpBadge clusterId={clusterId} />
      <NativeSelect
        aria-label="Cluster"
        data={optionsOf(clusters)}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
        value={String(clusterId)}
      />
    </>
  );
}

interface ClusterFilterProps {
  readonly clusters: readonly Cluster[];
  /** Undefined: all of them. */
  readonly clusterId: number | undefined;
  readonly onChoose: (clusterId: number | undefined) => void;
}

export function ClusterFilter({ clusters, clusterId, onChoose }: ClusterFilterProps) {
  return (
    <NativeSelect
      aria-label="Cluster"
      data={[{ value: "", label: "All clusters" }, ...optionsOf(clusters)]}
      onChange={(event) => onChoose(Number(event.currentTarget.value) || undefined)}
      value={String(clusterId ?? "")}
    />
  );
}

function optionsOf(clusters: readonly Cluster[]) {
  return clusters.map(({ id, name, made_up }) => ({
    value: String(id),
    label: made_up ? `${name} (made up)` : name,
  }));
}
