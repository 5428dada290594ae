/** Creates a join token and shows the command that makes a host a node. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Checkbox, List, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedJoinToken } from "@/api/types";
import { Command } from "@/components/Command";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { createJoinToken } from "./queries";
import { withDirectories } from "./withDirectories";

const NODES_PER_TOKEN = 100;
const USUAL_DIRECTORY = "/scratch/iotide";

interface AddNodeProps {
  readonly clusterId: number;
  /** Called when there is a command to copy. It stays visible when the first node joins. */
  readonly onToken: () => void;
}

export function AddNode({ clusterId, onToken }: AddNodeProps) {
  const create = useMutation(createJoinToken);
  const mayEnrol = useMay("admin", clusterId);
  const [needsApproval, setNeedsApproval] = useState(true);
  if (create.data) return <JoinCommand token={create.data} />;
  return (
    <Stack gap="sm">
      {create.error && <ErrorNotice error={create.error} />}
      {mayEnrol && (
        <Checkbox
          checked={needsApproval}
          description={t`Any user with the token can enrol a host. No runs start on the host before you approve it.`}
          label={t`Require approval of each node`}
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
        {mayEnrol ? t`Create join token` : t`You need the admin role to create a join token`}
      </Button>
    </Stack>
  );
}

function JoinCommand({ token }: { token: CreatedJoinToken }) {
  return (
    <Stack gap="sm">
      {token.install_command ? (
        <InstallCommand command={token.install_command} />
      ) : (
        <EnrolCommand command={token.command} />
      )}
      <Hint>
        <Trans>
          The token admits up to {NODES_PER_TOKEN} nodes and expires <When at={token.expires_at} />.
        </Trans>{" "}
        {token.needs_approval && t`Each node then waits here for approval.`}
      </Hint>
    </Stack>
  );
}

function InstallCommand({ command }: { command: string }) {
  const [directories, setDirectories] = useState(USUAL_DIRECTORY);
  return (
    <>
      <TextInput
        description={t`Runs write only below these. Separate several with spaces. Missing ones are created.`}
        label={t`Directories for runs`}
        maw={480}
        onChange={(event) => setDirectories(event.currentTarget.value)}
        value={directories}
      />
      <Text size="sm">{t`Run this as root on each node. It installs the agent, enrols the node and starts the agent.`}</Text>
      <Command
        label={t`Copy join command`}
        text={withDirectories(command, directories.trim() || USUAL_DIRECTORY)}
      />
      <Hint>
        {t`The node needs curl and Python 3.11 or newer. It connects only to this server, and checks what it gets.`}
      </Hint>
    </>
  );
}

function EnrolCommand({ command }: { command: string }) {
  return (
    <>
      <List size="sm" type="ordered">
        <List.Item>{t`Install the iotide-agent package on the node.`}</List.Item>
        <List.Item>{t`In agent.toml, set approved_directories to the directories that runs may write to.`}</List.Item>
        <List.Item>
          {t`Join the node with the command below, then start the agent: iotide-agent run.`}
        </List.Item>
      </List>
      <Command label={t`Copy enrol command`} text={command} />
    </>
  );
}
