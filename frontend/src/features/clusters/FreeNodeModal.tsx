/** Shows what freeing a stuck node does, and asks to confirm it. */

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
      no={t`Cancel`}
      onClose={onClose}
      onConfirm={() => digest && free.mutate({ nodeId: node.id, digest }, { onSuccess: onClose })}
      statement={statement}
      title={t`Free ${node.name}?`}
      yes={t`Free ${node.name}`}
    >
      {({ runs, afterwards }) => (
        <>
          <Text size="sm">
            {t`This is usually not needed. A reboot of the node frees it. The agent also frees it when the storage responds again and the processes have ended.`}
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
