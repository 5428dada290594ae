/** Let an operator call a silent node dead or free what a stuck one holds; each shows first what follows. */

import { t } from "@lingui/core/macro";
import { type ComponentType, lazy } from "react";
import type { Node } from "@/api/types";
import { DialogButton } from "@/components/buttons";
import { useMay } from "@/components/session";

const DeadNodeModal = lazy(() => import("./DeadNodeModal"));
const FreeNodeModal = lazy(() => import("./FreeNodeModal"));

export function NodeDecisionButtons({ node }: { node: Node }) {
  if (!useMay("operator", node.cluster_id)) return null;
  // The server ignores what a revoked node says; with orders left it may hold what others wait for.
  const mayBeDead = node.state === "silent" || (node.state === "revoked" && node.active_orders.length > 0);
  return (
    <>
      {mayBeDead && <DecisionButton label={t`This node is dead`} modal={DeadNodeModal} node={node} />}
      {node.stuck.length > 0 && (
        <DecisionButton label={t`Free what it holds`} modal={FreeNodeModal} node={node} />
      )}
    </>
  );
}

interface DecisionProps {
  label: string;
  modal: ComponentType<{ node: Node; onClose: () => void }>;
  node: Node;
}

/** A button that opens the dialog of a decision. */
export function DecisionButton({ label, modal: Modal, node }: DecisionProps) {
  const dialog = (onClose: () => void) => <Modal node={node} onClose={onClose} />;
  return (
    <DialogButton color="red" dialog={dialog} size="xs" variant="outline">
      {label}
    </DialogButton>
  );
}
