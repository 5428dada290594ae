/** Lets an operator free what the loads of a stuck node hold, which shows first what may follow. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { Node } from "@/api/types";
import { useMay } from "@/components/session";

const FreeNodeModal = lazy(() => import("./FreeNodeModal"));

export function FreeNodeButton({ node }: { node: Node }) {
  const [isAsking, setIsAsking] = useState(false);
  const mayFree = useMay("operator", node.cluster_id);
  if (!mayFree || node.stuck.length === 0) return null;
  return (
    <>
      <Button
        color="red"
        onClick={() => setIsAsking(true)}
        size="xs"
        variant="outline"
      >{t`Free what it holds`}</Button>
      <Suspense>{isAsking && <FreeNodeModal node={node} onClose={() => setIsAsking(false)} />}</Suspense>
    </>
  );
}
