/** Teaches how a node joins: a join token on demand, inside the command to paste on the node. */

import { Button, List, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Command } from "@/components/Command";
import { ErrorNotice } from "@/components/ErrorNotice";
import { useMay } from "@/components/session";
import { When } from "@/components/When";
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
  return (
    <Stack gap="sm">
      <List size="sm" type="ordered">
        <List.Item>Install the package iotide-agent on the node.</List.Item>
        <List.Item>Name in agent.toml the directories below which runs may write.</List.Item>
        <List.Item>
          Let the node join with the command below, then start its agent: iotide-agent run.
        </List.Item>
      </List>
      {create.error && <ErrorNotice error={create.error} />}
      {create.data ? (
        <>
          <Command label="Copy the enrol command" text={create.data.command} />
          <Text c="dimmed" size="sm">
            The token admits up to {NODES_PER_TOKEN} nodes and ends at <When at={create.data.expires_at} />.
          </Text>
        </>
      ) : (
        <Button
          disabled={!mayEnrol}
          loading={create.isPending}
          onClick={() => create.mutate({ clusterId, uses: NODES_PER_TOKEN }, { onSuccess: onToken })}
          variant="light"
          w="fit-content"
        >
          {mayEnrol ? "Make a join token" : "Only an admin can make a join token"}
        </Button>
      )}
    </Stack>
  );
}
