/** Lets an operator say that a silent node is dead, which shows first what that frees and ends. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Node } from "@/api/types";
import { useMay } from "@/components/session";

const DeadNodeModal = lazy(() => import("./DeadNodeModal"));

export function DeadNodeButton({ node }: { node: Node }) {
  const [isAsking, setIsAsking] = useState(false);
  const mayDeclare = useMay("operator", node.cluster_id);
  // One that was revoked is not heard, whatever it says; with orders left it may hold what others wait for.
  const isCandidate = node.state === "silent" || (node.state === "revoked" && node.active_orders.length > 0);
  if (!mayDeclare || !isCandidate) return null;
  return (
    <>
      <Button
        color="red"
        onClick={() => setIsAsking(true)}
        size="xs"
        variant="outline"
      >{t`This node is dead`}</Button>
      <Suspense>{isAsking && <DeadNodeModal node={node} onClose={() => setIsAsking(false)} />}</Suspense>
    </>
  );
}
