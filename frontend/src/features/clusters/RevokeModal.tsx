/** What revoking a node does to its runs, and the word that does it. */

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
      intro={t`Its token and its Redis user are void at once and its connections end: do this when somebody else may have them. Its history stays; its host can be enrolled again.`}
      // What it ends is read first; where that cannot be told, a stolen identity is shut out all the same.
      isReady={!stated.isPending}
      no={t`Keep it`}
      onClose={onClose}
      onConfirm={() => revoke.mutate(node.id, { onSuccess: onClose })}
      statement={stated}
      title={t`Revoke ${node.name}?`}
      yes={t`Revoke`}
    >
      {(found) => <Touched revocation={found} />}
    </StatementDialog>
  );
}

function Touched({ revocation: { runs, waiting_count: waiting } }: { revocation: Revocation }) {
  return (
    <>
      {runs.length === 0 && <Text size="sm">{t`It holds no order: no run ends for it.`}</Text>}
      {runs.map((run) => (
        <StatedRun color={run.ends ? "orange" : "red"} key={run.run_id} run={run} words={run.words} />
      ))}
      {waiting > 0 && (
        <Hint>
          {waiting === 1
            ? t`1 run waits for it and goes on waiting.`
            : t`${waiting} runs wait for it and go on waiting.`}
        </Hint>
      )}
    </>
  );
}
