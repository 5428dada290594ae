/** Nodes of one cluster, and how to add more. */

import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { AddButton } from "@/components/AddButton";
import { Loaded, Section } from "@/components/Page";
import EnrolNode from "./EnrolNode";
import { JoinTokens } from "./JoinTokens";
import { NodeTable } from "./NodeTable";
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
