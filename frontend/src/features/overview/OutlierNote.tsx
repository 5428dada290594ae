/** How a node or target differs from its peers, for a line of status; nothing if it does not. */

import { useQuery } from "@tanstack/react-query";
import { TextLink } from "@/components/links";
import { boardQuery, USUAL_DAYS } from "./queries";

type OutlierNoteProps = { readonly nodeId: number } | { readonly targetId: number };

export function OutlierNote(of: OutlierNoteProps) {
  const { data: board } = useQuery({ ...boardQuery(USUAL_DAYS), refetchInterval: false });
  const odd = (board?.attention ?? []).filter(({ kind, node_id, target_id }) =>
    "nodeId" in of
      ? kind === "outlier_node" && node_id === of.nodeId
      : kind === "outlier_target" && target_id === of.targetId,
  );
  return odd.map(({ words, cluster_id: cluster, workload }) => (
    <TextLink
      c="var(--mantine-color-error)"
      fw={600}
      key={words}
      search={{ cluster, workload: workload ?? undefined }}
      to="/peers"
      underline="always"
    >
      {words.replace(/^[^:]+: /, "")}
    </TextLink>
  ));
}
