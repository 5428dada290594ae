/** All that a node said about itself: tools, mounts and facts. */

import { Badge, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Node } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { DrainButton } from "@/components/drain/DrainButton";
import { DrainNote } from "@/components/drain/DrainNote";
import { FactsTable } from "@/components/FactsTable";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { useMay } from "@/components/session";
import { DeadNodeButton } from "./DeadNodeButton";
import { retireNode } from "./queries";

export default function NodeDrawer({ node, onClose }: { node: Node; onClose: () => void }) {
  return (
    <Drawer
      attributes={{ header: { role: "presentation" } }}
      closeButtonProps={{ "aria-label": "Close" }}
      onClose={onClose}
      opened
      position="right"
      size="xl"
      title={`Node ${node.name}`}
    >
      <Stack>
        <Group>
          <StateBadge state={node.state} />
          <Text c="dimmed" size="sm">
            agent {node.agent_version ?? "unknown"}, {node.slots} {node.slots === 1 ? "slot" : "slots"}
          </Text>
          <Group gap="xs" ml="auto">
            <DeadNodeButton node={node} />
            <DrainButton
              clusterId={node.cluster_id}
              drain={node.drain}
              name={`node ${node.name}`}
              subject={{ kind: "node", id: node.id }}
            />
            <RetireButton node={node} onDone={onClose} />
          </Group>
        </Group>
        <DrainNote drain={node.drain} />
        {node.problem && (
          <Text c="var(--mantine-color-error)" size="sm">
            {node.problem}
          </Text>
        )}
        <Title order={3} size="h5">
          Workloads
        </Title>
        <WorkloadList node={node} />
        <Title order={3} size="h5">
          Mounts
        </Title>
        <MountTable node={node} />
        <Title order={3} size="h5">
          Facts
        </Title>
        <FactsTable facts={node.facts} label={`Facts of ${node.name}`} />
      </Stack>
    </Drawer>
  );
}

function WorkloadList({ node }: { node: Node }) {
  if (node.workloads.length === 0) return <Text c="dimmed">The agent has announced none yet.</Text>;
  return (
    <Stack gap={4}>
      {node.workloads.map((workload) => (
        <Group gap="xs" key={workload.name}>
          <Badge color={workload.available ? "green" : "orange"} tt="none" variant="light">
            {workload.name}
          </Badge>
          <Text c="dimmed" size="sm">
            {workload.available ? (workload.tool_version ?? "") : workload.unavailable_because}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

function MountTable({ node }: { node: Node }) {
  return (
    <ScrollTable
      head={["Path", "File system", "Source", "Free", "Runs may write"]}
      label={`Mounts of ${node.name}`}
    >
      {node.mounts.map((mount) => (
        <tr key={mount.path}>
          <td>{mount.path}</td>
          <td>{mount.fstype}</td>
          <td>{mount.source}</td>
          <td>
            <Quantity unit="bytes" value={mount.free_bytes} />
          </td>
          <td>{mount.approved ? "yes" : "no"}</td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function RetireButton({ node, onDone }: { node: Node; onDone: () => void }) {
  const retire = useMutation(retireNode);
  const mayRetire = useMay("admin", node.cluster_id);
  if (!mayRetire) return null;
  return (
    <ConfirmButton
      loading={retire.isPending}
      onConfirm={() => retire.mutate(node.id, { onSuccess: onDone })}
      question={{
        title: `Retire ${node.name}?`,
        body: "Its agent is shut out and it gets no more runs. What it measured stays.",
        yes: "Retire",
        no: "Keep it",
      }}
      size="xs"
    >
      Retire
    </ConfirmButton>
  );
}
