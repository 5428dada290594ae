/** Marks what was never measured: a badge wherever a made-up cluster is named. */

import { Badge } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Cluster } from "@/api/types";

const MadeUpContext = createContext<ReadonlySet<number>>(new Set());

interface MadeUpProviderProps {
  readonly clusters: readonly Cluster[];
  readonly children: ReactNode;
}

/** Knows which of the clusters were made up. */
export function MadeUpProvider({ clusters, children }: MadeUpProviderProps) {
  const ids = useMemo(
    () => new Set(clusters.filter(({ made_up }) => made_up).map(({ id }) => id)),
    [clusters],
  );
  return <MadeUpContext value={ids}>{children}</MadeUpContext>;
}

/** Nothing beside a cluster whose results were measured. */
export function MadeUpBadge({ clusterId }: { clusterId: number }) {
  const ids = useContext(MadeUpContext);
  if (!ids.has(clusterId)) return null;
  return (
    <Badge
      color="grape"
      component="span"
      miw="max-content"
      title="Its nodes and results were made up to show a history; nothing of it was measured."
      tt="none"
      variant="light"
    >
      made up
    </Badge>
  );
}
