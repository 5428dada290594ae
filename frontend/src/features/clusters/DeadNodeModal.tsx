/** Shows what declaring a silent node dead frees and ends, and asks to confirm it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { DeathStatement, Node } from "@/api/types";
import { Hint } from "@/components/looks";
import { When } from "@/components/values";
import { deathStatementQuery, declareDead } from "./queries";
import { StatedRun, StatementDialog } from "./StatementDialog";

export default function DeadNodeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const statement = useQuery(deathStatementQuery(node.id));
  const declare = useMutation(declareDead);
  const digest = statement.data?.statement_sha256;
  return (
    <StatementDialog
      decision={declare}
      isReady={digest !== undefined}
      no={t`Cancel`}
      onClose={onClose}
      onConfirm={() => digest && declare.mutate({ nodeId: node.id, digest }, { onSuccess: onClose })}
      statement={statement}
      title={t`Declare ${node.name} dead?`}
      yes={t`Declare ${node.name} dead`}
    >
      {(stated) => <Stated statement={stated} />}
    </StatementDialog>
  );
}

function Stated({ statement }: { statement: DeathStatement }) {
  const { node_name: name, runs, waiting_count: waiting } = statement;
  return (
    <>
      <Text size="sm">
        <Trans>
          Last heartbeat of {name}: <When at={statement.last_seen_at} />. Declare the node dead only if you
          know that it is powered off or its benchmark processes have ended.
        </Trans>
      </Text>
      {runs.length === 0 && <Text size="sm">{t`The node has no run: nothing is freed or ended.`}</Text>}
      {runs.map((run) => (
        <StatedRun key={run.run_id} risk={run.risk} run={run} words={`${run.ends}.`} />
      ))}
      <Hint>
        <Trans>
          {waiting} {waiting === 1 ? t`run waits` : t`runs wait`} for this node. No run starts on {name} until
          its agent is back and idle.
        </Trans>
      </Hint>
    </>
  );
}
