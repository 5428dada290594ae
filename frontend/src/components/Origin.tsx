/** Marks what was not measured by one's own nodes: a badge wherever a cluster is named that was made up or published. */

import { t } from "@lingui/core/macro";
import { Badge } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Cluster } from "@/api/types";
import { BadgeLink } from "./links";

type Origin = Cluster["origin"];
const OriginContext = createContext<ReadonlyMap<number, Origin>>(new Map());

interface OriginProviderProps {
  readonly clusters: readonly Cluster[];
  readonly children: ReactNode;
}

/** Knows where the results of each cluster come from. */
export function OriginProvider({ clusters, children }: OriginProviderProps) {
  const origins = useMemo(() => new Map(clusters.map(({ id, origin }) => [id, origin])), [clusters]);
  return <OriginContext value={origins}>{children}</OriginContext>;
}

/** Own where nothing else is known. */
export function useOrigin(clusterId: number | null | undefined): Origin {
  return useContext(OriginContext).get(clusterId ?? 0) ?? "own";
}

/** Nothing beside a cluster whose nodes measured what it shows; beside a published one the way to its source. */
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
        tt="none"
        variant="light"
      >{t`published`}</BadgeLink>
    );
  return (
    <Badge
      color="grape"
      component="span"
      miw="max-content"
      title={t`Its nodes and results were made up to show a history; nothing of it was measured.`}
      tt="none"
      variant="light"
    >{t`made up`}</Badge>
  );
}
