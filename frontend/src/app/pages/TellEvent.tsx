/** Lets an operator tell of an event, with the nodes and targets of its cluster to choose from. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Cluster, TrendEvent } from "@/api/types";
import { useMay } from "@/components/session";
import { nodeLinesQuery } from "@/features/clusters/queries";
import { targetsQuery } from "@/features/targets/queries";

const TellEventModal = lazy(() => import("@/components/events/TellEventModal"));

interface TellEventProps {
  readonly cluster: Pick<Cluster, "id" | "name">;
  readonly chosen?: { readonly nodes: readonly string[]; readonly targets: readonly string[] };
  readonly onTold?: (event: TrendEvent) => void;
}

export function TellEvent(props: TellEventProps) {
  const [isTelling, setIsTelling] = useState(false);
  if (!useMay("operator", props.cluster.id)) return null;
  return (
    <>
      <Button onClick={() => setIsTelling(true)} variant="default">{t`Add an event`}</Button>
      {isTelling && <TellingForm {...props} onClose={() => setIsTelling(false)} />}
    </>
  );
}

function TellingForm({ cluster, ...props }: TellEventProps & { readonly onClose: () => void }) {
  const [nodes, targets] = useQueries({ queries: [nodeLinesQuery(cluster.id), targetsQuery(cluster.id)] });
  const place = {
    cluster: cluster.name,
    nodes: (nodes.data ?? []).map(({ name }) => name),
    targets: (targets.data ?? []).map(({ name }) => name),
  };
  return (
    <Suspense>
      <TellEventModal place={place} {...props} />
    </Suspense>
  );
}
