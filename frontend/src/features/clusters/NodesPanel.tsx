/** Nodes of one cluster, and how to add more. */

import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { AddButton } from "@/components/AddButton";
import { Loaded } from "@/components/Loaded";
import { NodeTable } from "./NodeTable";
import { nodesQuery } from "./queries";

const EnrolNode = lazy(() => import("./EnrolNode"));
const NodeDrawer = lazy(() => import("./NodeDrawer"));

interface NodesPanelProps {
  readonly clusterId: number;
  /** The node whose details are open; part of the address. */
  readonly openNodeId: number | undefined;
  readonly onOpenNode: (nodeId: number | undefined) => void;
}

export function NodesPanel({ clusterId, openNodeId, onOpenNode }: NodesPanelProps) {
  const nodes = useQuery(nodesQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const open = nodes.data?.find(({ id }) => id === openNodeId);
  const isEmpty = nodes.data?.length === 0;
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          Nodes
        </Title>
        {isEmpty === false && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>
            Add a node
          </AddButton>
        )}
      </Group>
      {isEmpty && <Text>No node has joined yet. A node is a host whose agent runs the benchmarks.</Text>}
      <Suspense>
        {(isAdding || isEmpty) && <EnrolNode clusterId={clusterId} onToken={() => setIsAdding(true)} />}
      </Suspense>
      <Loaded isEmpty={(rows) => rows.length === 0} query={nodes}>
        {(rows) => (
          <>
            <NodeTable nodes={rows} onOpen={onOpenNode} />
            <Suspense>{open && <NodeDrawer node={open} onClose={() => onOpenNode(undefined)} />}</Suspense>
          </>
        )}
      </Loaded>
    </Stack>
  );
}
