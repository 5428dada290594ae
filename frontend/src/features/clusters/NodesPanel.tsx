/** Nodes of one cluster, and how to add more. */

import { t } from "@lingui/core/macro";
import { Button, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NodeLine } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { AddButton } from "@/components/buttons";
import { DrainNote } from "@/components/drain/DrainButton";
import { NodeLink } from "@/components/links";
import { Detail, Hint, Problem } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { AgentVersion } from "./AgentVersion";
import EnrolNode from "./EnrolNode";
import { describeNode } from "./facts";
import { JoinTokens } from "./JoinTokens";
import { NodeActivity } from "./NodeActivity";
import { PendingNodes } from "./PendingNodes";
import { nodeLinesQuery } from "./queries";

export function NodesPanel({ clusterId }: { clusterId: number }) {
  const nodes = useQuery(nodeLinesQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const isEmpty = nodes.data?.length === 0;
  return (
    <Section
      actions={
        isEmpty === false && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add a node`}</AddButton>
        )
      }
      title={t`Nodes`}
    >
      <Stack gap="sm">
        {isEmpty && (
          <Text>{t`No node has joined yet. A node is a host whose agent runs the benchmarks.`}</Text>
        )}
        {(isAdding || isEmpty) && <EnrolNode clusterId={clusterId} onToken={() => setIsAdding(true)} />}
        <PendingNodes clusterId={clusterId} />
        <Loaded isEmpty={(rows) => rows.length === 0} query={nodes}>
          {(rows) => <NodeTable nodes={rows} />}
        </Loaded>
        <JoinTokens clusterId={clusterId} />
      </Stack>
    </Section>
  );
}

const FIRST_ROWS = 50;

function NodeTable({ nodes }: { nodes: readonly NodeLine[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? nodes : nodes.slice(0, FIRST_ROWS);
  return (
    <>
      <ScrollTable head={[t`Node`, t`State`, t`Last seen`, t`Now`, t`Agent`, t`System`]} label={t`Nodes`}>
        {shown.map((node) => (
          <NodeRow key={node.id} node={node} />
        ))}
      </ScrollTable>
      {shown.length < nodes.length && (
        <Button onClick={() => setShowsAll(true)} variant="subtle">
          {t`Show all ${nodes.length} nodes`}
        </Button>
      )}
    </>
  );
}

function NodeRow({ node }: { node: NodeLine }) {
  return (
    <Row>
      <td>
        <NodeLink fw={600} id={node.id} name={node.name} />
        {node.role !== "compute" && <Detail>{node.role}</Detail>}
      </td>
      <td>
        <StateBadge state={node.state} />
        <DrainNote drain={node.drain} />
        {node.problem && (
          <Problem maw={280} mt={2} style={{ whiteSpace: "normal" }}>
            {node.problem}
          </Problem>
        )}
        {node.stuck.map(({ process, run_id }) => (
          <Problem key={`${run_id} ${process}`} maw={280} mt={2} style={{ whiteSpace: "normal" }}>
            {t`${process} cannot be killed`}
          </Problem>
        ))}
      </td>
      <When at={node.last_seen_at} />
      <td style={{ minWidth: 200 }}>
        <NodeActivity idle={node.stuck.length > 0 ? "" : t`idle`} node={node} />
      </td>
      <td>
        <AgentVersion standing={node.agent_standing} version={node.agent_version} />
        {node.clock_is_off && <Problem>{t`its clock is more than 1 s off`}</Problem>}
      </td>
      <Hint>{describeNode(node.facts)}</Hint>
    </Row>
  );
}
