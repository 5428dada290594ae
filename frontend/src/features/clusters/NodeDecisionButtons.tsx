/** Buttons to declare a silent node dead or to free a stuck one. Each shows the consequences first. */

import { t } from "@lingui/core/macro";
import { type ComponentType, lazy } from "react";
import type { Node } from "@/api/types";
import { DialogButton } from "@/components/buttons";
import { useMay } from "@/components/session";

const DeadNodeModal = lazy(() => import("./DeadNodeModal"));
const FreeNodeModal = lazy(() => import("./FreeNodeModal"));

export function NodeDecisionButtons({ node }: { node: Node }) {
  if (!useMay("operator", node.cluster_id)) return null;
  // The server ignores reports of a revoked node. Orders left on it may block resources of other runs.
  const mayBeDead = node.state === "silent" || (node.state === "revoked" && node.active_orders.length > 0);
  return (
    <>
      {mayBeDead && <DecisionButton label={t`Declare dead`} modal={DeadNodeModal} node={node} />}
      {node.stuck.length > 0 && <DecisionButton label={t`Free node`} modal={FreeNodeModal} node={node} />}
    </>
  );
}

interface DecisionProps {
  label: string;
  modal: ComponentType<{ node: Node; onClose: () => void }>;
  node: Node;
}

export function DecisionButton({ label, modal: Modal, node }: DecisionProps) {
  const dialog = (onClose: () => void) => <Modal node={node} onClose={onClose} />;
  return (
    <DialogButton color="red" dialog={dialog} size="xs" variant="outline">
      {label}
    </DialogButton>
  );
}
