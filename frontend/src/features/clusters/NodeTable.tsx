/** The nodes of a cluster with what each is doing now. */

import { t } from "@lingui/core/macro";
import { Button, Text } from "@mantine/core";
import { useState } from "react";
import type { NodeLine } from "@/api/types";
import { DrainNote } from "@/components/drain/DrainNote";
import { NodeLink } from "@/components/links";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { When } from "@/components/values";
import { AgentVersion } from "./AgentVersion";
import { describeNode } from "./facts";
import { NodeActivity } from "./NodeActivity";

const FIRST_ROWS = 50;

export function NodeTable({ nodes }: { nodes: readonly NodeLine[] }) {
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
        {node.stuck.map(({ process, run_id }) => (
          <Text
            c="var(--mantine-color-error)"
            key={`${run_id} ${process}`}
            maw={280}
            mt={2}
            size="xs"
            style={{ whiteSpace: "normal" }}
          >
            {t`${process} cannot be killed`}
          </Text>
        ))}
      </td>
      <When at={node.last_seen_at} />
      <td style={{ minWidth: 200 }}>
        <NodeActivity idle={node.stuck.length > 0 ? "" : t`idle`} node={node} />
      </td>
      <td>
        <AgentVersion standing={node.agent_standing} version={node.agent_version} />
        {node.clock_is_off && (
          <Text c="var(--mantine-color-error)" size="xs">{t`its clock is more than 1 s off`}</Text>
        )}
      </td>
      <Text c="dimmed" size="sm">
        {describeNode(node.facts)}
      </Text>
    </Row>
  );
}
