import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { JoinToken, NodeLine } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { AddButton, ConfirmButton } from "@/components/buttons";
import { DrainNote } from "@/components/drain/DrainButton";
import { NodeLink } from "@/components/links";
import { Detail, Hint, Problem } from "@/components/looks";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { AddNode } from "./AddNode";
import { AgentVersion } from "./AgentVersion";
import { describeNode } from "./facts";
import { NodeActivity } from "./NodeActivity";
import { PendingNodes } from "./PendingNodes";
import { joinTokensQuery, nodeLinesQuery, revokeJoinToken } from "./queries";

export function NodesPanel({ clusterId }: { clusterId: number }) {
  const nodes = useQuery(nodeLinesQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const isEmpty = nodes.data?.length === 0;
  return (
    <Section
      actions={
        isEmpty === false && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add node`}</AddButton>
        )
      }
      title={t`Nodes`}
    >
      <Stack gap="sm">
        {isEmpty && <Text>{t`No nodes yet. A node is a host with an agent that runs benchmarks.`}</Text>}
        {(isAdding || isEmpty) && <AddNode clusterId={clusterId} onToken={() => setIsAdding(true)} />}
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
      <ScrollTable
        head={[t`Node`, t`State`, t`Last seen`, t`Activity`, t`Agent`, t`System`]}
        label={t`Nodes`}
      >
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
        {node.clock_is_off && <Problem>{t`clock is more than 1 s off`}</Problem>}
      </td>
      <Hint>{describeNode(node.facts)}</Hint>
    </Row>
  );
}

const NONE = [] as const;

function JoinTokens({ clusterId }: { clusterId: number }) {
  const mayRevoke = useMay("admin", clusterId);
  const tokens = useQuery({ ...joinTokensQuery(clusterId), enabled: mayRevoke });
  if (tokens.isLoadingError) return <ErrorNotice error={tokens.error} onRetry={tokens.refetch} />;
  if (!tokens.data || tokens.data.length === 0) return null;
  return <Open clusterId={clusterId} tokens={tokens.data} />;
}

function Open({ clusterId, tokens }: { clusterId: number; tokens: readonly JoinToken[] }) {
  const { data: nodes = NONE } = useQuery(nodeLinesQuery(clusterId));
  const revoke = useMutation(revokeJoinToken);
  return (
    <Paper p="md" withBorder>
      <Stack gap="sm">
        <Title order={3} size="h5">{t`Join tokens`}</Title>
        <Hint>{t`Any user with a join token can enrol a host here. Revoke tokens that are no longer needed.`}</Hint>
        {revoke.error && <ErrorNotice error={revoke.error} />}
        <ScrollTable
          head={[t`Token`, t`Created by`, t`Created`, t`Purpose`, t`Uses left`, t`Expires`, ""]}
          label={t`Join tokens`}
        >
          {tokens.map((token) => (
            <TokenRow
              isBusy={revoke.isPending}
              nodeName={nodes.find((node) => node.id === token.node_id)?.name}
              key={token.id}
              onRevoke={() => revoke.mutate(token.id)}
              token={token}
            />
          ))}
        </ScrollTable>
      </Stack>
    </Paper>
  );
}

interface TokenRowProps {
  readonly token: JoinToken;
  /** Node to be re-enrolled; undefined if the token creates new nodes. */
  readonly nodeName: string | undefined;
  readonly isBusy: boolean;
  readonly onRevoke: () => void;
}

function TokenRow({ token, nodeName, isBusy, onRevoke }: TokenRowProps) {
  const { id, uses_left } = token;
  const maker = token.made_by ?? t`a deleted user`;
  return (
    <Row>
      <td className="iotide-strong">{id}</td>
      {maker}
      <When at={token.created_at} />
      <LetsIn nodeName={nodeName} token={token} />
      {uses_left}
      <When at={token.expires_at} />
      <ConfirmButton
        aria-label={t`Revoke join token ${id}`}
        disabled={isBusy}
        onConfirm={onRevoke}
        title={t`Revoke join token ${id} of ${maker}?`}
        body={plural(uses_left, {
          one: "It could enrol # more host. Enrolled and pending nodes are not affected. This cannot be undone.",
          other:
            "It could enrol # more hosts. Enrolled and pending nodes are not affected. This cannot be undone.",
        })}
        yes={t`Revoke`}
        size="compact-xs"
      >{t`Revoke`}</ConfirmButton>
    </Row>
  );
}

function LetsIn({ token, nodeName }: Pick<TokenRowProps, "token" | "nodeName">) {
  const { node_id, needs_approval } = token;
  if (node_id !== null)
    return (
      <Trans>
        enrol the host of <NodeLink id={node_id} name={nodeName ?? node_id} /> again
      </Trans>
    );
  return needs_approval ? t`new nodes, after approval` : t`new nodes, without approval`;
}
