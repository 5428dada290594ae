/** What freeing a stuck node would do, and the word that does just that. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Node, StuckStatement } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { freeStuck, stuckStatementQuery } from "./queries";

export default function FreeNodeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const statement = useQuery(stuckStatementQuery(node.id));
  const free = useMutation(freeStuck);
  const digest = statement.data?.statement_sha256;
  function confirm(): void {
    if (digest !== undefined) free.mutate({ nodeId: node.id, digest }, { onSuccess: onClose });
  }
  return (
    <Dialog onClose={onClose} size="lg" title={t`Free what ${node.name} holds?`}>
      <Stack gap="sm">
        <Loaded query={statement}>{(stated) => <Stated statement={stated} />}</Loaded>
        {free.error && <ErrorNotice error={free.error} />}
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose} variant="default">{t`Keep everything as it is`}</Button>
          <Button
            color="red"
            disabled={digest === undefined}
            loading={free.isPending}
            onClick={confirm}
          >{t`Free it`}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Stated({ statement }: { statement: StuckStatement }) {
  return (
    <>
      <Text size="sm">
        <Trans>
          You need not do this: a reboot of the node frees all of it. So does an agent that reports that the
          loads are gone, when their storage answers again.
        </Trans>
      </Text>
      {statement.runs.map((run) => (
        <Alert
          color="orange"
          key={run.run_id}
          title={t`Run ${run.run_id} of ${run.campaign_name}, ${run.workload}`}
          variant="light"
        >
          <Text size="sm">{run.frees}.</Text>
          <Text mt={4} size="sm">
            {run.risk}
          </Text>
        </Alert>
      ))}
      <Text c="dimmed" size="sm">
        {statement.afterwards}
      </Text>
    </>
  );
}
