import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Checkbox, Group, Paper, Stack, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PendingNode } from "@/api/types";
import { ConfirmButton } from "@/components/buttons";
import { Detail, Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { AgentVersion } from "./AgentVersion";
import { describeNode } from "./facts";
import { decideOnPending, pendingNodesQuery } from "./queries";

const HEAD = [t`Select`, t`Node`, t`Fingerprint`, t`Address`, t`System`, t`Agent`, t`Requested`, t`Expires`];

export function PendingNodes({ clusterId }: { clusterId: number }) {
  const mayDecide = useMay("admin", clusterId);
  const pending = useQuery({ ...pendingNodesQuery(clusterId), enabled: mayDecide });
  if (pending.isLoadingError) return <ErrorNotice error={pending.error} onRetry={pending.refetch} />;
  if (!pending.data || pending.data.length === 0) return null;
  return <Waiting clusterId={clusterId} pending={pending.data} />;
}

function Waiting({ clusterId, pending }: { clusterId: number; pending: readonly PendingNode[] }) {
  const [ticked, setTicked] = useState<readonly number[]>([]);
  const decide = useMutation(decideOnPending);
  const those = pending.filter(({ id }) => ticked.includes(id));
  const chosen = those.map(({ id }) => id);
  const names = those.map(({ name }) => name).join(", ");
  const toggle = (id: number) =>
    setTicked(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  const say = (isApproved: boolean) => decide.mutate({ clusterId, pendingIds: chosen, isApproved });
  const count = chosen.length;
  return (
    <Paper p="md" withBorder>
      <Stack gap="sm">
        <Title order={3} size="h5">{t`Pending nodes`}</Title>
        <Hint>
          <Trans>
            Any host can claim a name. Compare each fingerprint with the output of{" "}
            <code>iotide-agent check</code> on the host.
          </Trans>
        </Hint>
        <ScrollTable head={HEAD} label={t`Pending nodes`}>
          {pending.map((node) => (
            <PendingRow
              isTicked={chosen.includes(node.id)}
              key={node.id}
              node={node}
              onToggle={() => toggle(node.id)}
            />
          ))}
        </ScrollTable>
        {decide.error && <ErrorNotice error={decide.error} />}
        <Group gap="xs">
          <Button disabled={count === 0} loading={decide.isPending} onClick={() => say(true)} size="xs">
            {count === 0 ? t`Approve` : t`Approve ${count}`}
          </Button>
          <ConfirmButton
            disabled={count === 0 || decide.isPending}
            onConfirm={() => say(false)}
            title={plural(count, { one: "Refuse # host?", other: "Refuse # hosts?" })}
            body={t`${names}: the issued credentials become invalid. To enrol again, a host needs another join token.`}
            yes={t`Refuse`}
            no={t`Cancel`}
            size="xs"
          >
            {count === 0 ? t`Refuse` : t`Refuse ${count}`}
          </ConfirmButton>
          <Button
            onClick={() => setTicked(count === pending.length ? [] : pending.map(({ id }) => id))}
            size="xs"
            variant="subtle"
          >
            {count === pending.length ? t`Select none` : t`Select all`}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

interface PendingRowProps {
  readonly node: PendingNode;
  readonly isTicked: boolean;
  readonly onToggle: () => void;
}

function PendingRow({ node, isTicked, onToggle }: PendingRowProps) {
  return (
    <Row>
      <Checkbox aria-label={t`Select ${node.name}`} checked={isTicked} onChange={onToggle} />
      <td className="iotide-strong">
        {node.name}
        {node.role !== "compute" && <Detail>{node.role}</Detail>}
      </td>
      <code>{node.fingerprint}</code>
      {node.address ?? t`unknown`}
      <Hint>{describeNode(node.facts)}</Hint>
      <AgentVersion standing={node.agent_standing} version={node.agent_version} />
      <When at={node.asked_at} />
      <When at={node.expires_at} />
    </Row>
  );
}
