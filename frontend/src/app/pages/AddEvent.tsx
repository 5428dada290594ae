import { t } from "@lingui/core/macro";
import { useQueries } from "@tanstack/react-query";
import { lazy } from "react";
import type { Cluster, TrendEvent } from "@/api/types";
import { DialogButton } from "@/components/buttons";
import { useMay } from "@/components/session";
import { nodeLinesQuery } from "@/features/clusters/queries";
import { targetsQuery } from "@/features/targets/queries";

const AddEventModal = lazy(() => import("@/components/events/AddEventModal"));

interface AddEventProps {
  readonly cluster: Pick<Cluster, "id" | "name">;
  readonly chosen?: { readonly nodes: readonly string[]; readonly targets: readonly string[] };
  readonly onAdded?: (event: TrendEvent) => void;
}

export function AddEvent(props: AddEventProps) {
  if (!useMay("operator", props.cluster.id)) return null;
  return (
    <DialogButton
      dialog={(onClose) => <AddEventForm {...props} onClose={onClose} />}
      variant="default"
    >{t`Add event`}</DialogButton>
  );
}

export function AddEventForm({ cluster, ...props }: AddEventProps & { readonly onClose: () => void }) {
  const [nodes, targets] = useQueries({ queries: [nodeLinesQuery(cluster.id), targetsQuery(cluster.id)] });
  const place = {
    cluster: cluster.name,
    nodes: (nodes.data ?? []).map(({ name }) => name),
    targets: (targets.data ?? []).map(({ name }) => name),
  };
  return <AddEventModal place={place} {...props} />;
}
