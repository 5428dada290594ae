/** What a node does now: the runs that hold it, with how far each is. */

import { Trans } from "@lingui/react/macro";
import { Box, Group, Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { TextLink } from "@/components/links";
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
        <TextLink params={{ runId: order.run_id }} size="sm" to="/runs/$runId">
          <Trans>Run {order.run_id}</Trans>
        </TextLink>
        <Text c="dimmed" size="xs">
          {order.phase || order.state}
        </Text>
      </Group>
      <RunProgress phase={order.phase} progress={order.progress} runId={order.run_id} />
    </Box>
  ));
}
