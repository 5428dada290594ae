/** What calling a silent node dead would free and end, and the word that does just that. */

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
      no={t`Keep everything as it is`}
      onClose={onClose}
      onConfirm={() => digest && declare.mutate({ nodeId: node.id, digest }, { onSuccess: onClose })}
      statement={statement}
      title={t`Is ${node.name} dead?`}
      yes={t`It is dead`}
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
          {name} was last heard of <When at={statement.last_seen_at} />. Say that it is dead only if you know
          that its power is off or its loads have ended.
        </Trans>
      </Text>
      {runs.length === 0 && <Text size="sm">{t`It holds no order: nothing is freed and nothing ends.`}</Text>}
      {runs.map((run) => (
        <StatedRun key={run.run_id} risk={run.risk} run={run} words={`${run.ends}.`} />
      ))}
      <Hint>
        <Trans>
          {waiting} {waiting === 1 ? t`run waits` : t`runs wait`} for it and {waiting === 1 ? t`goes` : t`go`}{" "}
          on waiting: nothing starts on {name} until its agent is back and idle.
        </Trans>
      </Hint>
    </>
  );
}
