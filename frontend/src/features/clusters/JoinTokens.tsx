/** The tokens that still let hosts into a cluster: who made them, how often and until when, and their end. */

import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Paper, Stack, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { JoinToken } from "@/api/types";
import { ConfirmButton } from "@/components/buttons";
import { NodeLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { joinTokensQuery, nodeLinesQuery, revokeJoinToken } from "./queries";

const NONE = [] as const;

export function JoinTokens({ clusterId }: { clusterId: number }) {
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
        <Hint>{t`Whoever has one of these can enrol a host here. Revoke what nobody needs any more.`}</Hint>
        {revoke.error && <ErrorNotice error={revoke.error} />}
        <ScrollTable
          head={[t`Token`, t`Made by`, t`Made`, t`Lets in`, t`Uses left`, t`Until`, ""]}
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
  /** Of the node that a host becomes by it; undefined where it makes new ones. */
  readonly nodeName: string | undefined;
  readonly isBusy: boolean;
  readonly onRevoke: () => void;
}

function TokenRow({ token, nodeName, isBusy, onRevoke }: TokenRowProps) {
  const { id, uses_left } = token;
  const maker = token.made_by ?? t`somebody who is gone`;
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
          one: "It would let # more host in. Nodes that it let in stay, and so do hosts that wait; this cannot be undone.",
          other:
            "It would let # more hosts in. Nodes that it let in stay, and so do hosts that wait; this cannot be undone.",
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
        a host as the node <NodeLink id={node_id} name={nodeName ?? node_id} />
      </Trans>
    );
  return needs_approval ? t`new nodes, once approved` : t`new nodes, at once`;
}
