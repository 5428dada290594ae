/** What revoking a node does to its runs, and the word that does it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Node, Revocation } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { revokeNode } from "./identityQueries";
import { revocationQuery } from "./queries";

export default function RevokeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const stated = useQuery(revocationQuery(node.id));
  const revoke = useMutation(revokeNode);
  return (
    <Dialog onClose={onClose} size="lg" title={t`Revoke ${node.name}?`}>
      <Stack gap="sm">
        <Text size="sm">
          <Trans>
            Its token and its Redis user are void at once and its connections end: do this when somebody else
            may have them. Its history stays; its host can be enrolled again.
          </Trans>
        </Text>
        <Loaded query={stated}>{(found) => <Touched revocation={found} />}</Loaded>
        {revoke.error && <ErrorNotice error={revoke.error} />}
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose} variant="default">{t`Keep it`}</Button>
          <Button
            color="red"
            // What it ends is read first; where that cannot be told, a stolen identity is shut out all the same.
            disabled={stated.isPending}
            loading={revoke.isPending}
            onClick={() => revoke.mutate(node.id, { onSuccess: onClose })}
          >{t`Revoke`}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Touched({ revocation }: { revocation: Revocation }) {
  const { runs, waiting_count: waiting } = revocation;
  return (
    <>
      {runs.length === 0 && <Text size="sm">{t`It holds no order: no run ends for it.`}</Text>}
      {runs.map((run) => (
        <Alert
          color={run.ends ? "orange" : "red"}
          key={run.run_id}
          title={t`Run ${run.run_id} of ${run.campaign_name}, ${run.workload}`}
          variant="light"
        >
          <Text size="sm">{run.words}</Text>
        </Alert>
      ))}
      {waiting > 0 && (
        <Text c="dimmed" size="sm">
          {waiting === 1
            ? t`1 run waits for it and goes on waiting.`
            : t`${waiting} runs wait for it and go on waiting.`}
        </Text>
      )}
    </>
  );
}
