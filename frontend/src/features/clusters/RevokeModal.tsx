/** Shows what revoking a node does to its runs, and asks to confirm it. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Node, Revocation } from "@/api/types";
import { Hint } from "@/components/looks";
import { revocationQuery, revokeNode } from "./queries";
import { StatedRun, StatementDialog } from "./StatementDialog";

export default function RevokeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const stated = useQuery(revocationQuery(node.id));
  const revoke = useMutation(revokeNode);
  return (
    <StatementDialog
      decision={revoke}
      intro={t`The node's token and Redis user become invalid immediately and its connections are closed. Do this if the credentials may have leaked. The history is kept, and the host can be enrolled again.`}
      // Wait until the consequences are loaded. If loading fails, a stolen identity must still be revocable.
      isReady={!stated.isPending}
      no={t`Cancel`}
      onClose={onClose}
      onConfirm={() => revoke.mutate(node.id, { onSuccess: onClose })}
      statement={stated}
      title={t`Revoke ${node.name}?`}
      yes={t`Revoke node`}
    >
      {(found) => <Touched revocation={found} />}
    </StatementDialog>
  );
}

function Touched({ revocation: { runs, waiting_count: waiting } }: { revocation: Revocation }) {
  return (
    <>
      {runs.length === 0 && <Text size="sm">{t`The node has no run: no run is ended.`}</Text>}
      {runs.map((run) => (
        <StatedRun color={run.ends ? "orange" : "red"} key={run.run_id} run={run} words={run.words} />
      ))}
      {waiting > 0 && (
        <Hint>
          {waiting === 1
            ? t`1 run waits for this node and keeps waiting.`
            : t`${waiting} runs wait for this node and keep waiting.`}
        </Hint>
      )}
    </>
  );
}
