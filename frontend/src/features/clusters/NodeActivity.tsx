/** Runs that hold a node, with their progress. */

import { t } from "@lingui/core/macro";
import { Box, Group } from "@mantine/core";
import type { Node } from "@/api/types";
import { RunLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { RunProgress } from "@/components/RunProgress";

interface NodeActivityProps {
  readonly node: Pick<Node, "active_orders">;
  /** Shown if no run holds the node. */
  readonly idle: string;
}

export function NodeActivity({ node, idle }: NodeActivityProps) {
  if (node.active_orders.length === 0) return <Hint>{idle}</Hint>;
  return node.active_orders.map((order) => (
    <Box key={order.order_id} miw={200}>
      <Group gap="xs" justify="space-between">
        <RunLink id={order.run_id} name={t`Run ${order.run_id}`} size="sm" />
        <Detail>{order.phase || order.state}</Detail>
      </Group>
      <RunProgress phase={order.phase} progress={order.progress} runId={order.run_id} />
    </Box>
  ));
}
