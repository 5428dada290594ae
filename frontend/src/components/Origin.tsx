/** Marks what this installation's nodes did not measure: a badge or a note where sample data or published results are shown. */

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

/** Knows where the results of each cluster come from. */
export function OriginProvider({ clusters, children }: OriginProviderProps) {
  const origins = useMemo(() => new Map(clusters.map((cluster) => [cluster.id, cluster])), [clusters]);
  return <OriginContext value={origins}>{children}</OriginContext>;
}

/** Every cluster that the reader may see. */
export function useClusters(): Cluster[] {
  return [...useContext(OriginContext).values()];
}

/** Own where nothing else is known. */
export function useOrigin(clusterId: number | null | undefined): Origin {
  return useContext(OriginContext).get(clusterId ?? 0)?.origin ?? "own";
}

/** Marks sample data, and links a published cluster to its source; nothing for a cluster of one's own. */
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
        title={t`Others measured it and published it. Leads to the source.`}
        to="/published"
      >{t`published`}</BadgeLink>
    );
  return <SampleBadge />;
}

/** `OriginBadge` in the rows of a list, where one `SampleNote` above says which clusters are sample data. */
export function RowOriginBadge({ clusterId }: { clusterId: number }) {
  return useOrigin(clusterId) === "published" && <OriginBadge clusterId={clusterId} />;
}

/** One line above a list that names the clusters of sample data among its rows. */
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
      title={t`These nodes and results are an example. Nothing was measured.`}
    >{t`sample data`}</Badge>
  );
}
