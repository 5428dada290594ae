/** What calling a silent node dead would free and end, and the word that does just that. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { DeathStatement, Node } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { When } from "@/components/When";
import { deathStatementQuery, declareDead } from "./queries";

export default function DeadNodeModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const statement = useQuery(deathStatementQuery(node.id));
  const declare = useMutation(declareDead);
  const digest = statement.data?.statement_sha256;
  function confirm(): void {
    if (digest !== undefined) declare.mutate({ nodeId: node.id, digest }, { onSuccess: onClose });
  }
  return (
    <Dialog onClose={onClose} size="lg" title={t`Is ${node.name} dead?`}>
      <Stack gap="sm">
        <Loaded query={statement}>{(stated) => <Stated statement={stated} />}</Loaded>
        {declare.error && <ErrorNotice error={declare.error} />}
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose} variant="default">{t`Keep everything as it is`}</Button>
          <Button
            color="red"
            disabled={digest === undefined}
            loading={declare.isPending}
            onClick={confirm}
          >{t`It is dead`}</Button>
        </Group>
      </Stack>
    </Dialog>
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
        <Alert
          color="orange"
          key={run.run_id}
          title={t`Run ${run.run_id} of ${run.campaign_name}, ${run.workload}`}
          variant="light"
        >
          <Text size="sm">{run.ends}.</Text>
          <Text mt={4} size="sm">
            {run.risk}
          </Text>
        </Alert>
      ))}
      <Text c="dimmed" size="sm">
        <Trans>
          {waiting} {waiting === 1 ? t`run waits` : t`runs wait`} for it and {waiting === 1 ? t`goes` : t`go`}{" "}
          on waiting: nothing starts on {name} until its agent is back and idle.
        </Trans>
      </Text>
    </>
  );
}
