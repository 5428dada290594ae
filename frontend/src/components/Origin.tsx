/** Marks for sample data and published results, which this installation's nodes did not measure. */

import { t } from "@lingui/core/macro";
import { Badge, Group } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Cluster } from "@/api/types";
import { Hint } from "@/components/looks";
import { BadgeLink } from "./links";

type Origin = Cluster["origin"];
const OriginContext = createContext<ReadonlyMap<number, Cluster>>(new Map());

interface OriginProviderProps {
  readonly clusters: readonly Cluster[];
  readonly children: ReactNode;
}

export function OriginProvider({ clusters, children }: OriginProviderProps) {
  const origins = useMemo(() => new Map(clusters.map((cluster) => [cluster.id, cluster])), [clusters]);
  return <OriginContext value={origins}>{children}</OriginContext>;
}

export function useClusters(): Cluster[] {
  return [...useContext(OriginContext).values()];
}

/** Return the origin of a cluster, "own" if unknown. */
export function useOrigin(clusterId: number | null | undefined): Origin {
  return useContext(OriginContext).get(clusterId ?? 0)?.origin ?? "own";
}

/** Badge for sample data, link to the source for published clusters, nothing for own clusters. */
export function OriginBadge({ clusterId }: { clusterId: number }) {
  const origin = useOrigin(clusterId);
  if (origin === "own") return null;
  if (origin === "published")
    return (
      <BadgeLink
        color="indigo"
        miw="max-content"
        search={{ cluster: clusterId }}
        style={{ cursor: "pointer" }}
        title={t`Measured and published by others. Opens the source.`}
        to="/published"
      >{t`published`}</BadgeLink>
    );
  return <SampleBadge />;
}

/** `OriginBadge` for rows of a list whose sample data a `SampleNote` names above. */
export function RowOriginBadge({ clusterId }: { clusterId: number }) {
  return useOrigin(clusterId) === "published" && <OriginBadge clusterId={clusterId} />;
}

/** A line above a list that names its clusters with sample data. */
export function SampleNote({ clusterIds }: { clusterIds: readonly number[] }) {
  const known = useContext(OriginContext);
  const shown = [...new Set(clusterIds)].flatMap((id) => known.get(id) ?? []);
  const names = shown.filter(({ origin }) => origin === "made_up").map(({ name }) => name);
  if (names.length === 0) return null;
  return (
    <Group gap="xs" role="note">
      <SampleBadge />
      <Hint>{names.sort().join(", ")}</Hint>
    </Group>
  );
}

function SampleBadge() {
  return (
    <Badge
      color="grape"
      component="span"
      miw="max-content"
      title={t`These nodes and results are generated examples. Nothing was measured.`}
    >{t`sample data`}</Badge>
  );
}
