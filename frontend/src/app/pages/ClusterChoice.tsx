import { t } from "@lingui/core/macro";
import { NativeSelect } from "@mantine/core";
import type { Cluster } from "@/api/types";
import { ChoiceFilter } from "@/components/filters";
import { OriginBadge } from "@/components/Origin";

interface ClusterChoiceProps {
  readonly clusters: readonly Cluster[];
  readonly clusterId: number;
  readonly onChoose: (clusterId: number) => void;
}

export function ClusterChoice({ clusters, clusterId, onChoose }: ClusterChoiceProps) {
  return (
    <>
      <OriginBadge clusterId={clusterId} />
      <NativeSelect
        aria-label={t`Cluster`}
        data={optionsOf(clusters).map((one) => ({ ...one, value: String(one.value) }))}
        onChange={(event) => onChoose(Number(event.currentTarget.value))}
        value={String(clusterId)}
      />
    </>
  );
}

interface ClusterFilterProps {
  readonly clusters: readonly Cluster[];
  /** Undefined: all clusters. */
  readonly clusterId: number | undefined;
  readonly onChoose: (clusterId: number | undefined) => void;
}

export function ClusterFilter({ clusters, clusterId, onChoose }: ClusterFilterProps) {
  return (
    <ChoiceFilter
      all={t`All clusters`}
      choices={optionsOf(clusters)}
      label={t`Cluster`}
      onChoose={onChoose}
      size="sm"
      value={clusterId}
    />
  );
}

const WORDS: Readonly<Partial<Record<Cluster["origin"], string>>> = {
  made_up: t`sample data`,
  published: "published",
};

function optionsOf(clusters: readonly Cluster[]) {
  return clusters.map(({ id, name, origin }) => ({
    value: id,
    label: WORDS[origin] ? `${name} (${WORDS[origin]})` : name,
  }));
}
