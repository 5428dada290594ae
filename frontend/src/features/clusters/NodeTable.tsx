/** The nodes of a cluster with what each is doing now. */

import { Anchor, Box, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { Node } from "@/api/types";
import { DrainNote } from "@/components/drain/DrainNote";
import { TextLink } from "@/components/links";
import { RunProgress } from "@/components/RunProgress";
import { ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { When } from "@/components/When";
import { describeNode } from "./facts";

const FIRST_ROWS = 50;

interface NodeTableProps {
  readonly nodes: readonly Node[];
  readonly onOpen: (nodeId: number) => void;
}

export function NodeTable({ nodes, onOpen }: NodeTableProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? nodes : nodes.slice(0, FIRST_ROWS);
  return (
    <>
      <ScrollTable head={["Node", "State", "Last seen", "Now", "System"]} label="Nodes">
        {shown.map((node) => (
          <NodeRow key={node.id} node={node} onOpen={onOpen} />
        ))}
      </ScrollTable>
      {shown.length < nodes.length && (
        <Button onClick={() => setShowsAll(true)} variant="subtle">
          Show all {nodes.length} nodes
        </Button>
      )}
    </>
  );
}

function NodeRow({ node, onOpen }: { node: Node; onOpen: (nodeId: number) => void }) {
  return (
    <tr>
      <td>
        <Anchor component="button" fw={600} onClick={() => onOpen(node.id)} type="button">
          {node.name}
        </Anchor>
        {node.role !== "compute" && (
          <Text c="dimmed" size="xs">
            {node.role}
          </Text>
        )}
      </td>
      <td>
        <StateBadge state={node.state} />
        <DrainNote drain={node.drain} />
        {node.problem && (
          <Text c="var(--mantine-color-error)" maw={280} mt={2} size="xs" style={{ whiteSpace: "normal" }}>
            {node.problem}
          </Text>
        )}
      </td>
      <td>
        <When at={node.last_seen_at} />
      </td>
      <td style={{ minWidth: 200 }}>
        <Activity node={node} />
      </td>
      <td>
        <Text c="dimmed" size="sm">
          {describeNode(node.facts)}
        </Text>
      </td>
    </tr>
  );
}

function Activity({ node }: { node: Node }) {
  if (node.active_orders.length === 0)
    return (
      <Text c="dimmed" size="sm">
        idle
      </Text>
    );
  return node.active_orders.map((order) => (
    <Box key={order.order_id}>
      <Group gap="xs" justify="space-between">
        <TextLink params={{ runId: order.run_id }} size="sm" to="/runs/$runId">
          Run {order.run_id}
        </TextLink>
        <Text c="dimmed" size="xs">
          {order.phase || order.state}
        </Text>
      </Group>
      <RunProgress phase={order.phase} progress={order.progress} runId={order.run_id} />
    </Box>
  ));
}
