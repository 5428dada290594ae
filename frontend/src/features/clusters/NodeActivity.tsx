/** What a node does now: the runs that hold it, with how far each is. */

import { t } from "@lingui/core/macro";
import { Box, Group, Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { RunLink } from "@/components/links";
import { RunProgress } from "@/components/RunProgress";

interface NodeActivityProps {
  readonly node: Pick<Node, "active_orders">;
  /** Said where there is none. */
  readonly idle: string;
}

export function NodeActivity({ node, idle }: NodeActivityProps) {
  if (node.active_orders.length === 0)
    return (
      <Text c="dimmed" size="sm">
        {idle}
      </Text>
    );
  return node.active_orders.map((order) => (
    <Box key={order.order_id} miw={200}>
      <Group gap="xs" justify="space-between">
        <RunLink id={order.run_id} name={t`Run ${order.run_id}`} size="sm" />
        <Text c="dimmed" size="xs">
          {order.phase || order.state}
        </Text>
      </Group>
      <RunProgress phase={order.phase} progress={order.progress} runId={order.run_id} />
    </Box>
  ));
}
