/** Teaches how a node joins: a join token on demand, inside the command to paste on the node. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Checkbox, List, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Command } from "@/components/Command";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { createJoinToken } from "./queries";

const NODES_PER_TOKEN = 100;

interface EnrolNodeProps {
  readonly clusterId: number;
  /** There is a command to copy: it stays when the first node joins. */
  readonly onToken: () => void;
}

export default function EnrolNode({ clusterId, onToken }: EnrolNodeProps) {
  const create = useMutation(createJoinToken);
  const mayEnrol = useMay("admin", clusterId);
  const [needsApproval, setNeedsApproval] = useState(true);
  return (
    <Stack gap="sm">
      <List size="sm" type="ordered">
        <List.Item>{t`Install the package iotide-agent on the node.`}</List.Item>
        <List.Item>{t`Name in agent.toml the directories below which runs may write.`}</List.Item>
        <List.Item>
          {t`Let the node join with the command below, then start its agent: iotide-agent run.`}
        </List.Item>
      </List>
      {create.error && <ErrorNotice error={create.error} />}
      {create.data ? (
        <>
          <Command label={t`Copy the enrol command`} text={create.data.command} />
          <Hint>
            <Trans>
              The token admits up to {NODES_PER_TOKEN} nodes and ends at <When at={create.data.expires_at} />.
            </Trans>{" "}
            {create.data.needs_approval && t`Each of them then waits here until it is let in.`}
          </Hint>
        </>
      ) : (
        <>
          {mayEnrol && (
            <Checkbox
              checked={needsApproval}
              description={t`Whoever finds the token can enrol a host with it; nothing runs there before you let it in.`}
              label={t`Each node waits until it is let in`}
              onChange={() => setNeedsApproval(!needsApproval)}
            />
          )}
          <Button
            disabled={!mayEnrol}
            loading={create.isPending}
            onClick={() =>
              create.mutate({ clusterId, uses: NODES_PER_TOKEN, needsApproval }, { onSuccess: onToken })
            }
            variant="light"
            w="fit-content"
          >
            {mayEnrol ? t`Make a join token` : t`Only an admin can make a join token`}
          </Button>
        </>
      )}
    </Stack>
  );
}
