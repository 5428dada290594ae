/** What freeing a stuck node would do, and the word that does just that. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Node } from "@/api/types";
import { Hint } from "@/components/looks";
import { freeStuck, stuckStatementQuery } from "./queries";
import { StatedRun, StatementDialog } from "./StatementDialog";

export default function FreeNodeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const statement = useQuery(stuckStatementQuery(node.id));
  const free = useMutation(freeStuck);
  const digest = statement.data?.statement_sha256;
  return (
    <StatementDialog
      decision={free}
      isReady={digest !== undefined}
      no={t`Keep everything as it is`}
      onClose={onClose}
      onConfirm={() => digest && free.mutate({ nodeId: node.id, digest }, { onSuccess: onClose })}
      statement={statement}
      title={t`Free what ${node.name} holds?`}
      yes={t`Free it`}
    >
      {({ runs, afterwards }) => (
        <>
          <Text size="sm">
            {t`You need not do this: a reboot of the node frees all of it. So does an agent that reports that the loads are gone, when their storage answers again.`}
          </Text>
          {runs.map((run) => (
            <StatedRun key={run.run_id} risk={run.risk} run={run} words={`${run.frees}.`} />
          ))}
          <Hint>{afterwards}</Hint>
        </>
      )}
    </StatementDialog>
  );
}
